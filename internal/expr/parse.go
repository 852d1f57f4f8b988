package expr

// ParseCondition parses and checks a condition that stands alone, or a filter. Every placeholder must be
// used. The error is an [*Error].
func ParseCondition(src string, p Params) (*Condition, error) {
	return parseOne(p, func(e *Env) (*Condition, error) { return e.Condition(ConditionExpression, src) })
}

// ParseProjection is [ParseCondition] for a projection expression.
func ParseProjection(src string, p Params) (*Projection, error) {
	return parseOne(p, func(e *Env) (*Projection, error) { return e.Projection(src) })
}

// ParseUpdate is [ParseCondition] for an update expression.
func ParseUpdate(src string, p Params) (*Update, error) {
	return parseOne(p, func(e *Env) (*Update, error) { return e.Update(src) })
}

// parseOne parses the only expression of a request.
func parseOne[T any](p Params, parse func(*Env) (*T, error)) (*T, error) {
	e, err := NewEnv(p)
	if err != nil {
		return nil, err
	}
	parsed, err := parse(e)
	if err != nil {
		return nil, err
	}
	if err := e.Unused(); err != nil {
		return nil, err
	}
	return parsed, nil
}

// Condition parses and checks a condition, filter or key condition
// expression. The error is an [*Error].
func (e *Env) Condition(p Param, src string) (*Condition, error) {
	r, err := newParser(e, p, src)
	if err != nil {
		return nil, err
	}
	defer r.release()
	block := r.allocate()
	root := r.parseCondition()
	if err := r.error(); err != nil {
		return nil, err
	}
	block.condition = Condition{root}
	return &block.condition, nil
}

// Projection parses and checks a projection expression. The error is an
// [*Error].
func (e *Env) Projection(src string) (*Projection, error) {
	r, err := newParser(e, ProjectionExpression, src)
	if err != nil {
		return nil, err
	}
	defer r.release()
	paths := r.parseProjection()
	if err := r.error(); err != nil {
		return nil, err
	}
	return newProjection(paths), nil
}

// Update parses and checks an update expression. The error is an [*Error].
func (e *Env) Update(src string) (*Update, error) {
	r, err := newParser(e, UpdateExpression, src)
	if err != nil {
		return nil, err
	}
	defer r.release()
	block := r.allocateUpdate()
	actions := r.parseUpdate()
	if err := r.error(); err != nil {
		return nil, err
	}
	return block.init(actions), nil
}
