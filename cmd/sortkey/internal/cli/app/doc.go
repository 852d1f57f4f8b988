// Package app holds what the commands share: the environment of the process, usage errors, arguments and flags with
// their completion, models, and the databases that flags name. It does not depend on any command.
package app
