package server

import "crypto/rand"

func randomSeed() (seed [32]byte) {
	rand.Read(seed[:]) // never fails
	return seed
}
