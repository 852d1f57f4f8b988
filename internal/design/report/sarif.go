package report

import (
	"fmt"
	"hash/fnv"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// The used parts of a SARIF log. Source: SARIF 2.1.0, OASIS.

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool        sarifTool         `json:"tool"`
	Invocations []sarifInvocation `json:"invocations"`
	ColumnKind  string            `json:"columnKind"`
	Results     []sarifResult     `json:"results"`
}

type sarifInvocation struct {
	ExecutionSuccessful bool `json:"executionSuccessful"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name           string      `json:"name"`
	Version        string      `json:"version,omitempty"`
	InformationURI string      `json:"informationUri"`
	Rules          []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID      string         `json:"id"`
	Short   *sarifMessage  `json:"shortDescription,omitempty"`
	Full    *sarifMessage  `json:"fullDescription,omitempty"`
	Help    *sarifMessage  `json:"help,omitempty"`
	HelpURI string         `json:"helpUri,omitempty"`
	Default sarifRuleLevel `json:"defaultConfiguration"`
}

type sarifRuleLevel struct {
	Level string `json:"level"`
}

type sarifMessage struct {
	Text string `json:"text"`
}

type sarifResult struct {
	RuleID       string             `json:"ruleId"`
	RuleIndex    int                `json:"ruleIndex"`
	Level        string             `json:"level"`
	Message      sarifMessage       `json:"message"`
	Locations    []sarifLocation    `json:"locations,omitempty"`
	Fingerprints map[string]string  `json:"partialFingerprints"`
	Suppressions []sarifSuppression `json:"suppressions,omitempty"`
	Properties   sarifProperties    `json:"properties"`
}

type sarifProperties struct {
	Keys   []string `json:"keys,omitempty"`
	Advice string   `json:"advice,omitempty"`
}

type sarifSuppression struct {
	Kind          string `json:"kind"`
	Justification string `json:"justification,omitempty"`
}

type sarifLocation struct {
	Physical *sarifPhysical `json:"physicalLocation,omitempty"`
	Logical  []sarifLogical `json:"logicalLocations,omitempty"`
}

type sarifPhysical struct {
	Artifact struct {
		URI string `json:"uri"`
	} `json:"artifactLocation"`
	Region *sarifRegion `json:"region,omitempty"`
}

type sarifRegion struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn,omitempty"`
}

type sarifLogical struct {
	Name string `json:"name"`
	Full string `json:"fullyQualifiedName"`
	Kind string `json:"kind"`
}

// SARIFOptions configure [SARIF]. The zero value is ready to use.
type SARIFOptions struct {
	// Root is the folder, such as that of the repository, to which file names
	// are relative. Default: file names stay as in the model.
	Root string
	// Version is the version of the checking program. Default: none.
	Version string
}

// number returns a module version from its first digit on, as readers of SARIF
// compare it (rule SARIF2005 of its validator), or "".
func number(version string) string {
	version = strings.TrimPrefix(version, "v")
	if version == "" || version[0] < '0' || version[0] > '9' {
		return ""
	}
	return version
}

// SARIF writes the findings of a result as a SARIF 2.1.0 log, which code review
// tools show beside the lines of the model. Findings that the model accepts are
// suppressed.
func SARIF(out io.Writer, r *check.Result, o SARIFOptions) error {
	run := sarifRun{
		Tool: sarifTool{Driver: sarifDriver{
			Name: "sortkey", Version: number(o.Version), InformationURI: "https://github.com/sortkey/sortkey",
		}},
		// The check itself succeeded, whatever it found.
		Invocations: []sarifInvocation{{ExecutionSuccessful: true}},
		ColumnKind:  "unicodeCodePoints",
		Results:     []sarifResult{},
	}

	all := rules()
	for _, f := range r.Findings {
		if !slices.ContainsFunc(all, func(r rule) bool { return r.id == f.Rule }) {
			all = append(all, rule{id: f.Rule, level: f.Severity.String()})
		}
	}

	index := map[string]int{}
	for i, rule := range all {
		index[rule.id] = i
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRuleOf(rule))
	}

	for _, f := range r.Findings {
		run.Results = append(run.Results, sarifResultOf(r, f, index[f.Rule], o.Root))
	}
	return encode(out, sarifLog{
		Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run},
	})
}

func sarifRuleOf(r rule) sarifRule {
	out := sarifRule{ID: r.id, HelpURI: r.source, Default: sarifRuleLevel{r.level}}
	if r.title != "" {
		out.Short = &sarifMessage{r.title}
	}
	if r.help != "" {
		out.Full = &sarifMessage{r.help}
		help := r.help
		if r.cure != "" {
			help += "\n\nWhat to do: " + r.cure
		}
		out.Help = &sarifMessage{help}
	}
	return out
}

func sarifResultOf(r *check.Result, f model.Finding, index int, root string) sarifResult {
	message := f.Message
	switch len(f.Keys) {
	case 0:
	case 1:
		message += "\nKey: " + text.Visible(f.Keys[0])
	default:
		message += "\nKeys: " + text.Visible(strings.Join(f.Keys, " and "))
	}

	if f.Advice != "" {
		message += "\nWhat to do: " + f.Advice
	}
	res := sarifResult{
		RuleID: f.Rule, RuleIndex: index, Level: f.Severity.String(), Message: sarifMessage{message},
		Fingerprints: map[string]string{"sortkey/v1": fingerprint(r, f)},
		Properties:   sarifProperties{Keys: f.Keys, Advice: f.Advice},
	}
	if f.Accepted != "" {
		res.Suppressions = []sarifSuppression{{Kind: "inSource", Justification: f.Accepted}}
	}

	var loc sarifLocation
	if f.Pos.File != "" {
		loc.Physical = &sarifPhysical{}
		loc.Physical.Artifact.URI = uri(f.Pos.File, root)
		if f.Pos.Line > 0 {
			loc.Physical.Region = &sarifRegion{StartLine: f.Pos.Line, StartColumn: f.Pos.Col}
		}
	}

	for _, s := range subjects(f) {
		loc.Logical = append(loc.Logical, sarifLogical{s.name, r.Model.Name + "/" + s.kind + "/" + s.name, s.kind})
	}
	if loc.Physical != nil || loc.Logical != nil {
		res.Locations = []sarifLocation{loc}
	}
	return res
}

// fingerprint identifies a finding when lines of the model have moved.
func fingerprint(r *check.Result, f model.Finding) string {
	h := fnv.New64a()
	parts := []string{r.Model.Name, f.Rule, f.Table, f.Index, f.Entity, f.Pattern, f.Message}
	for _, s := range append(parts, f.Keys...) {
		fmt.Fprintf(h, "%d:%s", len(s), s)
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

// uri returns a file name for SARIF: relative to root with forward slashes, or
// absolute if it is not below root.
func uri(file, root string) string {
	if abs, err := filepath.Abs(file); err == nil && root != "" {
		rel, err := filepath.Rel(root, abs)
		outside := rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator))
		if err == nil && !outside {
			file = rel
		}
	}
	u := url.URL{Path: filepath.ToSlash(filepath.Clean(file))}
	if filepath.IsAbs(file) {
		u.Scheme = "file"
		if !strings.HasPrefix(u.Path, "/") {
			u.Path = "/" + u.Path
		}
	}
	return u.String()
}
