package table

// Units of consumed capacity.
// Source: DG/CapacityUnitCalculations.html, DG/read-write-operations.html.
const (
	readUnitBytes  = 4096
	writeUnitBytes = 1024
)

// ReadUnits returns the units of one read of n bytes: one for each started 4 KB, and at least one. An eventually
// consistent read consumes half of that.
func ReadUnits(n int, consistent bool) float64 {
	units := float64(max((n+readUnitBytes-1)/readUnitBytes, 1))
	if !consistent {
		units /= 2
	}
	return units
}

// WriteUnits returns the units of a write of an item of n bytes: one for each started 1 KB, and at least one.
func WriteUnits(n int) float64 {
	return float64(max((n+writeUnitBytes-1)/writeUnitBytes, 1))
}

// Capacity is the capacity that an operation consumed on one table, in units.
type Capacity struct {
	Table   float64
	Indexes []IndexCapacity
	// Vectors lists the bytes written to vector indexes, which consume no units.
	Vectors []VectorCapacity
}

// VectorCapacity is the capacity that an operation consumed on one vector index.
type VectorCapacity struct {
	Name  string
	Bytes float64
}

// IndexCapacity is the capacity that an operation consumed on one index.
type IndexCapacity struct {
	Name  string
	Local bool
	Units float64
}

// Total returns the sum over the table and its indexes.
func (c *Capacity) Total() float64 {
	total := c.Table
	for _, ix := range c.Indexes {
		total += ix.Units
	}
	return total
}

// Add adds the units of other.
func (c *Capacity) Add(other Capacity) {
	c.Table += other.Table
	for _, ix := range other.Indexes {
		c.addIndex(ix.Name, ix.Local, ix.Units)
	}
	for _, ix := range other.Vectors {
		c.addVector(ix.Name, ix.Bytes)
	}
}

func (c *Capacity) addVector(name string, bytes float64) {
	for i := range c.Vectors {
		if c.Vectors[i].Name == name {
			c.Vectors[i].Bytes += bytes
			return
		}
	}
	c.Vectors = append(c.Vectors, VectorCapacity{name, bytes})
}

func (c *Capacity) addIndex(name string, local bool, units float64) {
	for i := range c.Indexes {
		if c.Indexes[i].Name == name {
			c.Indexes[i].Units += units
			return
		}
	}
	c.Indexes = append(c.Indexes, IndexCapacity{name, local, units})
}
