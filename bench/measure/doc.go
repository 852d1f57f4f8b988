// Package measure runs operations and keeps what they took: rounds, latency
// histograms, allocations and memory, and the statistics over them.
package measure
