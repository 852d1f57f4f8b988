package operation

import (
	"strings"

	"github.com/sortkey/sortkey/internal/design/terminal"
)

// Help is a part of an operation's help: the part that only the command has, or the part that only the tool has.
type Help struct {
	Lead    string // sentences after the first
	More    string // paragraphs after the notes
	Example string
}

// Usage returns the usage line of the command: its name and its arguments.
func (op *Operation) Usage() string {
	words := []string{op.Name}
	for _, p := range op.Params {
		switch {
		case p.Arg == "":
		case p.Required:
			words = append(words, p.Arg)
		default:
			words = append(words, "["+p.Arg+"]")
		}
	}
	return strings.Join(words, " ")
}

// CommandHelp returns the help of the command.
func (op *Operation) CommandHelp() string {
	const width = 90
	return op.help(capital(op.Name)+" "+op.Does, &op.Command, width)
}

// ToolHelp returns the description of the tool. Where the command's help has the name of a flag, it has the name of a
// tool argument.
func (op *Operation) ToolHelp() string {
	const width = 110
	help := ToolWords(op.help(capital(op.Does), &op.Tool, width))
	example := "Example: "
	if strings.Contains(op.Tool.Example, "}\n{") {
		example = "Examples: "
	}
	return help + "\n" + example + op.Tool.Example
}

// help joins the sentence first, the notes of the operation and the parts of h.
func (op *Operation) help(first string, h *Help, width int) string {
	paragraphs := append([]string{first + ". " + h.Lead}, op.Notes...)
	if h.More != "" {
		paragraphs = append(paragraphs, h.More)
	}
	return wrap(strings.Join(paragraphs, "\n\n"), width)
}

// toolWords replaces flags of commands by arguments of tools.
var toolWords = strings.NewReplacer("--desc", "descending", "--", "")

// ToolWords rewrites a text for tools: it replaces flags of commands by arguments of tools.
func ToolWords(s string) string { return toolWords.Replace(s) }

// wrap breaks the lines of paragraphs, except those that are indented.
func wrap(s string, width int) string {
	var lines []string
	for paragraph := range strings.SplitSeq(s, "\n\n") {
		if len(lines) > 0 {
			lines = append(lines, "")
		}
		prose := ""
		flush := func() {
			if prose = strings.TrimSpace(prose); prose != "" {
				lines = append(lines, terminal.Wrap(prose, width)...)
			}
			prose = ""
		}
		for line := range strings.SplitSeq(paragraph, "\n") {
			if strings.HasPrefix(line, " ") {
				flush()
				lines = append(lines, line)
				continue
			}
			prose += line + "\n"
		}
		flush()
	}
	return strings.Join(lines, "\n")
}

// capital returns a word with its first letter in upper case.
func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
