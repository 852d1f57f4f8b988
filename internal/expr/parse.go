package expr

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
