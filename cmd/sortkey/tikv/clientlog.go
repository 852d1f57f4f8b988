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

// logClient redirects the log of TiKV's client, which the client by default writes to standard output, to a logger.
// If the logger is nil, logClient drops the log. It lowers the level of each message. A warning becomes information,
// because the client repairs the cause. An error becomes a warning, because the store returns the errors that the
// client cannot repair.
func logClient(to *slog.Logger) {
	if to == nil {
		log.ReplaceGlobals(zap.NewNop(), &log.ZapProperties{})
		return
	}
	log.ReplaceGlobals(zap.New(&passing{to: to}), &log.ZapProperties{})
}

// passing is a [zapcore.Core] that passes the client's messages to a slog logger, at the levels that lowered returns.
type passing struct {
	to   *slog.Logger
	with []zapcore.Field
}

// Enabled implements [zapcore.LevelEnabler].
func (p *passing) Enabled(level zapcore.Level) bool {
	return p.to.Enabled(context.Background(), lowered(level))
}

// lowered converts the level of a client's message to the lower level at which passing logs the message.
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
