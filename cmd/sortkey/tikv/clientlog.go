package main

import (
	"context"
	"log/slog"
	"maps"
	"slices"

	"github.com/pingcap/log"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// logClient passes what TiKV's client logs to a logger, or drops it: the client would write
// to standard output. What it warns of it also repairs, and the errors that it cannot
// repair are those of the store. So its warnings are only information here, and its errors
// are warnings.
func logClient(to *slog.Logger) {
	if to == nil {
		log.ReplaceGlobals(zap.NewNop(), &log.ZapProperties{})
		return
	}
	log.ReplaceGlobals(zap.New(&passing{to: to}), &log.ZapProperties{})
}

// passing passes messages of zap to a logger.
type passing struct {
	to   *slog.Logger
	with []zapcore.Field
}

// Enabled implements [zapcore.LevelEnabler].
func (p *passing) Enabled(level zapcore.Level) bool {
	return p.to.Enabled(context.Background(), lowered(level))
}

// lowered returns the level at which a message of the client is passed on.
func lowered(level zapcore.Level) slog.Level {
	switch {
	case level >= zapcore.ErrorLevel:
		return slog.LevelWarn
	case level == zapcore.WarnLevel:
		return slog.LevelInfo
	}
	return slog.LevelDebug
}

// With implements [zapcore.Core].
func (p *passing) With(fields []zapcore.Field) zapcore.Core {
	return &passing{p.to, append(p.with[:len(p.with):len(p.with)], fields...)}
}

// Check implements [zapcore.Core].
func (p *passing) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if p.Enabled(entry.Level) {
		return checked.AddCore(entry, p)
	}
	return checked
}

// Write implements [zapcore.Core].
func (p *passing) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	values := zapcore.NewMapObjectEncoder()
	for _, f := range append(p.with[:len(p.with):len(p.with)], fields...) {
		f.AddTo(values)
	}
	attrs := make([]slog.Attr, 0, len(values.Fields))
	for _, name := range slices.Sorted(maps.Keys(values.Fields)) {
		attrs = append(attrs, slog.Any(name, values.Fields[name]))
	}
	p.to.LogAttrs(context.Background(), lowered(entry.Level), "tikv client: "+entry.Message, attrs...)
	return nil
}

// Sync implements [zapcore.Core].
func (p *passing) Sync() error { return nil }
