// Package app contains what several commands need: the environment of the process, usage errors, arguments and flags
// with their completion, and functions that load models and open the databases that flags name. It does not depend on
// any command.
package app
