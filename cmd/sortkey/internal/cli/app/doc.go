// Package app holds what the commands share: the environment of the process, the errors
// of a wrong command line, arguments and flags with their completion, models, and the
// databases that flags name. It knows no command.
package app
