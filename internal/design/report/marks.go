package report

import (
	"fmt"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// Marks are the parts of a picture that belong together, such as those of a
// row. Title is shown when the pointer rests on them; it can be "", and so can ID, to which links lead.
type marks struct {
	Title  string
	ID     string
	Boxes  []box
	Labels []label
}

// A box is a rectangle. R is the radius of its corners.
type box struct {
	X, Y, W, H, R float64
	Class         string
}

// A label is a line of text.
type label struct {
	X, Y        float64
	Class, Text string
}

// laneCells is the width of the rows of a slice beside a ladder.
const laneCells = 20

// bracket returns the path of the border of a range.
func bracket(x, top, bottom float64) string {
	if bottom-top < 1 { // between two rows
		return fmt.Sprintf("M%s %s h%d m%d -4 v8", text.Tenth(x), text.Tenth(top), laneCells+10, -laneCells-10)
	}
	return fmt.Sprintf("M%s %s h-6 V%s h6", text.Tenth(x+6), text.Tenth(top+1.5), text.Tenth(bottom-1.5))
}

// dropped returns the hatched box of rows that were read and dropped.
func dropped(color string, x, y, w, h float64) []box {
	return []box{{x, y, w, h, 0, "lost " + color}, {x, y, w, h, 0, "hatch"}}
}

// A palette maps entities to the classes of their colours.
type palette map[string]string

// maxColors is the number of colours that the style sheet names. [hues] makes more.
const maxColors = 8

func newPalette(m *model.Model) palette {
	p := palette{"": "en"}
	for i, e := range m.Entities {
		p[e.Name] = fmt.Sprintf("e%d", i)
	}
	return p
}
