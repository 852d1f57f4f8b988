// Package report prints what package bench measured: tables for people, and
// one HTML page that needs nothing but itself. Ratios come first everywhere:
// they hold on other machines, while times do not.
package report
