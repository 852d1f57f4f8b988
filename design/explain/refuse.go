package explain

func (e *explainer) refuse(s *ServiceError) error {
	e.report.Refused = &Refusal{Code: s.Code, Message: s.Message}
	return nil
}

func (e *explainer) improve() error { return nil }
