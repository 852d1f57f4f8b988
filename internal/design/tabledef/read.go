package tabledef

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/files"
	"github.com/sortkey/sortkey/internal/text"
)

// ErrOther means that a file has a format which this package does not read. [Read] wraps it.
var ErrOther = errors.New("neither CreateTable JSON nor a CloudFormation template nor a Terraform file")

// ErrFolder means that a folder has no file that defines tables. [Read] wraps it.
var ErrFolder = errors.New("the folder has no Terraform files, no serverless.yml and no template with a table")

// Parameters maps names to values. The names are parameters of a CloudFormation template, pseudo parameters such as
// AWS::StackName, variables of a Terraform module, or options, parameters and variables of a Serverless service.
type Parameters map[string]string

// check returns an error if the user gave a parameter that is not declared, for example because of a typo.
func (with Parameters) check(declared map[string]bool) error {
	for _, name := range slices.Sorted(maps.Keys(with)) {
		if !declared[name] && !strings.HasPrefix(name, "AWS::") {
			hint := "no parameters are declared"
			if len(declared) > 0 {
				hint = "declared are " + strings.Join(slices.Sorted(maps.Keys(declared)), ", ")
			}
			return advice.New(hint, "unknown parameter %s", name)
		}
	}
	return nil
}

// A Reader reads definitions of tables. The zero value is ready to use.
type Reader struct {
	Parameters Parameters
	// Flag is what advice writes before NAME=VALUE, such as "-P ". If Flag is "", advice writes NAME=VALUE in quotes.
	Flag string
}

// input returns a new input for one call of Read or ReadData.
func (r Reader) input() *input {
	return &input{with: r.Parameters, flag: r.Flag, sources: newSources()}
}

// A Note is about a value that a [Reader] invented, because only a deployment knows the real one, or about a part of
// a file that it did not read.
type Note struct {
	Text   string
	Advice string // how to give the value, or ""
}

// String returns the note with its advice.
func (n Note) String() string {
	if n.Advice == "" {
		return n.Text
	}
	return n.Text + "; " + n.Advice
}

// Read reads the tables that a file defines. If path is a folder, Read reads the project in it: Terraform files, a
// serverless.yml, a SAM template, or the output of cdk synth. If the format of the file is unknown, the error wraps
// [ErrOther].
//
// If only a deployment knows a name or a number, Read invents one and returns a note about it.
func (r Reader) Read(path string) ([]*Schema, []Note, error) {
	in := r.input()
	list, err := in.read(path)
	return list, in.notes, advice.Bound(err)
}

// ReadData reads the tables that data defines. data is the content of the file at path. If data names other files,
// ReadData looks for them relative to path.
func (r Reader) ReadData(path string, data []byte) ([]*Schema, []Note, error) {
	in := r.input()
	list, err := in.readData(path, data)
	return list, in.notes, advice.Bound(err)
}

func (in *input) read(path string) ([]*Schema, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if info.IsDir() {
		return in.readFolder(path)
	}
	data, err := files.Read(path, maxInput)
	if err != nil {
		return nil, err
	}
	return in.readData(path, data)
}

func (in *input) readData(path string, data []byte) ([]*Schema, error) {
	in.path = path
	list, err := in.parseFile(path, data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return list, nil
}

// maxInput limits the bytes of a file. The output of terraform show can be large.
const maxInput = 64 << 20

// Read reads a file or folder with a [Reader] that has the given parameters.
func Read(path string, with Parameters) ([]*Schema, []Note, error) {
	return Reader{Parameters: with}.Read(path)
}

// projects are the names of project files, in the order in which readFolder looks for them. It reads the first that
// exists.
var projects = []string{
	"serverless.yml", "serverless.yaml", "serverless.json", "template.yaml", "template.yml", "template.json",
}

// readFolder reads the Terraform files of a folder. If there are none, it reads the project file, and if that is
// missing too, the output of cdk synth.
func (in *input) readFolder(dir string) (list []*Schema, err error) {
	if paths, err := filepath.Glob(filepath.Join(dir, "*.tf")); err != nil || len(paths) > 0 {
		in.path = dir
		list, err := in.moduleFiles(dir)
		if err != nil {
			return nil, err
		}
		tables, err := in.parseTerraform(list, "")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		return tables, nil
	}

	for _, name := range projects {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil {
			return in.read(path)
		}
	}

	paths, err := filepath.Glob(filepath.Join(dir, "*.template.json"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		notes := len(in.notes)
		tables, err := in.read(path)
		if errors.Is(err, errNoTable) { // a stack without tables is not an error
			in.notes = in.notes[:notes]
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, tables...)
	}
	if list == nil {
		return nil, advice.New("name the file that defines the tables", "%s: %w", dir, ErrFolder)
	}
	return list, nil
}

// errNoTable is wrapped by the error for a template without tables.
var errNoTable = errors.New("the template has no table")

// An input is the state of reading a file or a folder.
type input struct {
	path  string // path of the file or module that is being read
	with  Parameters
	flag  string
	notes []Note
	// nesting is the number of modules around the current one. depth is the number of references that the current
	// evaluation is following.
	nesting, depth int
	*sources
}

// maxNotes limits the notes about one definition.
const maxNotes = 1000

// note adds a note, unless it is there already.
func (in *input) note(n Note) {
	n = Note{text.Clip(n.Text, advice.MaxText), text.Clip(n.Advice, advice.MaxText)}
	if len(in.notes) < maxNotes && !slices.Contains(in.notes, n) {
		in.notes = append(in.notes, n)
	}
}

// howTo returns text that tells a user how to give the named parameters.
func (in *input) howTo(names []string) string {
	list := make([]string, len(names))
	for i, name := range names {
		if list[i] = in.flag + name + "=…"; in.flag == "" {
			list[i] = strconv.Quote(list[i])
		}
	}
	return strings.Join(list, " and ")
}

func (in *input) parseFile(name string, data []byte) ([]*Schema, error) {
	switch filepath.Ext(name) {
	case ".tf":
		return in.parseFileOf(name, data)
	case ".js", ".cjs", ".mjs", ".ts":
		return nil, advice.New("load the template that it makes, such as the output of cdk synth, or "+compiled,
			"only Node.js can evaluate the file")
	}
	var v any
	isJSON := json.Unmarshal(data, &v) == nil
	if !isJSON {
		v = parseYAML(data)
	}
	root := object(v)
	switch {
	case isService(root):
		return in.parseService(root)
	case root["Resources"] != nil:
		return in.parseTemplate(root)
	case isFragment(root):
		return in.parseTemplate(map[string]any{"Resources": root})
	case !isJSON:
		return nil, ErrOther
	case root["planned_values"] != nil || root["values"] != nil && root["format_version"] != nil:
		return in.parseState(root)
	case root["KeySchema"] != nil || root["Table"] != nil || root["TableDescription"] != nil:
		return in.parseRequests([]any{v})
	}
	list, ok := v.([]any)
	if !ok {
		list, _ = root["Tables"].([]any)
	}
	return in.parseRequests(list)
}

// parseYAML returns the value of a YAML document, or nil if data is not YAML.
func parseYAML(data []byte) any {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil
	}
	return (&yamlReader{left: maxNodes}).plain(&doc, 0)
}

// parseRequests reads CreateTable requests and DescribeTable responses.
func (in *input) parseRequests(list []any) (all []*Schema, err error) {
	for i, v := range list {
		text, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		s, err := Parse(text)
		if err != nil {
			return nil, fmt.Errorf("table %d: %w", i+1, err)
		}
		if s.TableName == "" {
			return nil, advice.New("", "table %d has no TableName", i+1)
		}
		s.Place = fmt.Sprintf("%s: table %d", in.path, i+1)
		all = append(all, s)
	}
	if all == nil {
		return nil, ErrOther
	}
	return all, nil
}

// members are the members of a CreateTable request that [Schema] keeps.
var members = []string{
	"TableName", "AttributeDefinitions", "KeySchema", "LocalSecondaryIndexes", "GlobalSecondaryIndexes", "BillingMode",
	"ProvisionedThroughput",
	"StreamSpecification", "DeletionProtectionEnabled", "TableClass", "TimeToLiveSpecification",
}

// An unresolved takes the place of a value that only a deployment knows.
type unresolved struct {
	name    string // for messages
	standIn string // value to use instead where the real one does not matter, or ""
	legal   bool   // standIn is a value that the parameter could have
	why     string // why the expression cannot be evaluated, or ""
	of      []part
}

// reason says why the value is not known.
func (u unresolved) reason() string {
	if u.why == "" || len(u.of) > 0 { // if parameters are missing, these are the reason
		return fmt.Sprintf("the value of %s is unknown", u.name)
	}
	return fmt.Sprintf("%s cannot be evaluated: %s", u.name, u.why)
}

// A part is a parameter on which an unresolved value depends.
type part struct {
	name, standIn string
	give          string // name by which a user can give the parameter, or "" if a user cannot
}

// missing returns an unresolved value for a parameter that is not given.
func missing(name, standIn, give string) unresolved {
	return unresolved{name: name, standIn: legalName(standIn)}.from(give)
}

// from returns u with one part: a parameter that a user can give by the name give, with u's name and stand-in.
func (u unresolved) from(give string) unresolved {
	u.of = []part{{u.name, u.standIn, give}}
	return u
}

// gives returns the names of the parameters that a user must give to resolve the value.
func (u unresolved) gives() (all []string) {
	for _, p := range u.of {
		if p.give != "" && !slices.Contains(all, p.give) {
			all = append(all, p.give)
		}
	}
	return all
}

// legalName replaces the characters that a table name cannot have.
func legalName(s string) string {
	s = strings.Map(func(r rune) rune {
		if strings.ContainsRune("._-", r) || 'a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9' {
			return r
		}
		return '-'
	}, s)
	return strings.Trim(s, "-.")
}

// join joins values to a text. If one of them is unresolved, the result is unresolved too, and join joins the
// stand-ins.
func join(parts []any, between string) any {
	texts := make([]string, len(parts))
	all := unresolved{legal: true}
	length := 0
	for i, p := range parts {
		u, ok := p.(unresolved)
		switch p.(type) {
		case map[string]any, []any:
			return unresolved{name: "a list or an object within a text"}
		}

		switch {
		case ok && u.standIn == "":
			return u
		case ok:
			texts[i] = u.standIn
		default:
			texts[i] = fmt.Sprint(p)
		}

		if length += len(between) + len(texts[i]) + len(u.name); length > maxText {
			return tooLong
		}
		if !ok {
			continue
		}

		for _, p := range u.of {
			if slices.Contains(all.of, p) {
				continue
			}
			if all.of = append(all.of, p); all.name != "" {
				all.name += " and "
			}
			all.name += p.name
		}

		all.legal = all.legal && u.legal
	}

	text := strings.Join(texts, between)
	if all.of == nil {
		return text
	}
	all.standIn = text
	return all
}

// maxText limits the bytes of a text that a definition joins, because a small file can make a very large text.
const maxText = 1 << 16

// tooLong replaces a text of more than maxText bytes.
var tooLong = unresolved{name: "a value that is too long"}

// finish makes a Schema from the members of a CreateTable request. The parameter what is the name of the table in its
// file, for messages.
func (in *input) finish(what string, request map[string]any) (*Schema, error) {
	own := map[string]any{}
	for _, name := range members {
		if v := request[name]; v != nil {
			own[name] = v
		}
	}

	resolved, err := in.resolve(what, "", own)
	if err != nil {
		return nil, err
	}
	own = object(resolved)
	for _, x := range blocks(own["GlobalSecondaryIndexes"]) {
		if x["BillingMode"] != nil {
			own["BillingMode"] = x["BillingMode"]
		}
	}

	text, err := json.Marshal(own)
	if err != nil {
		return nil, err
	}
	s, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}

	s.Place = in.path + ": " + what
	return s, nil
}

// resolved returns the stand-in of an unresolved value that depends on parameters, and adds a note. It returns any
// other value unchanged.
func (in *input) resolved(v any) any {
	u, ok := v.(unresolved)
	if !ok || u.standIn == "" || len(u.of) == 0 {
		return v
	}
	in.made(u)
	if u.standIn == "true" || u.standIn == "false" {
		return u.standIn == "true"
	}
	return u.standIn
}

// made adds a note for each stand-in on which u depends.
func (in *input) made(u unresolved) {
	for _, p := range u.of {
		if p.standIn == "" {
			continue // no value uses it
		}
		n := Note{Text: fmt.Sprintf("%s is not given: %q is used", p.name, p.standIn)}
		if p.give != "" {
			n.Advice = in.howTo([]string{p.give}) + " gives it"
		}
		in.note(n)
	}
}

// free are the members that may be stand-ins, because they are names.
var free = []string{"TableName", "IndexName", "AttributeName"}

// optional are the members that a request may lack. resolve leaves such a member out if its value is unresolved.
var optional = []string{
	"BillingMode", "ProvisionedThroughput", "StreamSpecification", "DeletionProtectionEnabled", "TableClass",
	"TimeToLiveSpecification",
}

// resolve returns the value of a member as JSON would have it. It converts numbers and booleans that a template
// writes as text. For an unresolved value, it returns the stand-in if the member is a name or if the stand-in is a
// value that the parameter could have. Otherwise it returns an error.
func (in *input) resolve(place, member string, v any) (any, error) {
	switch v := v.(type) {
	case unresolved:
		switch {
		case v.standIn != "" && (v.legal || slices.Contains(free, member)):
			in.made(v)
			return v.standIn, nil
		case len(v.gives()) > 0:
			return nil, advice.New("give "+in.howTo(v.gives()), "%s: %s", place, v.reason())
		}
		how := "load what the tool makes of the file: the output of terraform show -json, or of " +
			"aws cloudformation get-template"
		return nil, advice.New(how, "%s: %s", place, v.reason())
	case map[string]any:
		out := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			m, err := in.resolve(place+"."+name, name, v[name])
			if err != nil && slices.Contains(optional, name) {
				in.note(Note{err.Error() + ", so the table is made without it", advice.Of(err)})
				if name == "ProvisionedThroughput" {
					out["BillingMode"] = "PAY_PER_REQUEST" // finish copies this from an index to the table
				}
				continue
			}
			if err != nil {
				return nil, err
			}
			if name == "BillingMode" && out[name] != nil {
				continue
			}
			if text, ok := m.(string); ok {
				if number, err := strconv.ParseFloat(text, 64); err == nil && strings.HasSuffix(name, "CapacityUnits") {
					m = number
				}
				if yes, err := strconv.ParseBool(text); err == nil && strings.HasSuffix(name, "Enabled") {
					m = yes
				}
			}
			out[name] = m
		}
		return out, nil
	case []any:
		out := make([]any, len(v))
		for i, m := range v {
			m, err := in.resolve(fmt.Sprintf("%s[%d]", place, i), "", m)
			if err != nil {
				return nil, err
			}
			out[i] = m
		}
		return out, nil
	}
	return v, nil
}

// maxDepth limits how deep values nest. maxNodes limits the nodes to which the aliases of a YAML file expand.
const (
	maxDepth = 100
	maxNodes = 1_000_000
)

// A yamlReader converts YAML nodes to values. left is the number of nodes that it may still convert before it gives
// up.
type yamlReader struct{ left int }

// plain converts a YAML node to maps, lists and scalars. It expands the short tags of CloudFormation: !Ref x becomes
// {"Ref": x}.
func (r *yamlReader) plain(n *yaml.Node, depth int) (v any) {
	if r.left--; depth > maxDepth || r.left < 0 {
		return nil
	}

	switch n.Kind {
	case yaml.DocumentNode:
		if len(n.Content) > 0 {
			return r.plain(n.Content[0], depth+1)
		}
		return nil
	case yaml.AliasNode:
		return r.plain(n.Alias, depth+1)
	case yaml.MappingNode:
		m := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			v := r.plain(n.Content[i+1], depth+1)
			if n.Content[i].ShortTag() == "!!merge" {
				merge(m, v)
				continue
			}
			m[n.Content[i].Value] = v
		}
		v = m
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, c := range n.Content {
			list[i] = r.plain(c, depth+1)
		}
		v = list
	default:
		r.left -= len(n.Value) / 64
		v = n.Value
		switch n.ShortTag() {
		case "!!bool":
			v = slices.Contains([]string{"true", "True", "TRUE"}, n.Value)
		case "!!null":
			v = nil
		}
	}

	function, short := strings.CutPrefix(n.Tag, "!")
	switch {
	case !short || strings.HasPrefix(function, "!"):
		return v
	case function == "Ref" || function == "Condition":
		return map[string]any{function: v}
	}
	return map[string]any{"Fn::" + function: v}
}

// merge adds the members of v to m, but does not replace members of m. v is an object or a list of objects.
func merge(m map[string]any, v any) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, from := range list {
		for name, v := range object(from) {
			if _, own := m[name]; !own {
				m[name] = v
			}
		}
	}
}
