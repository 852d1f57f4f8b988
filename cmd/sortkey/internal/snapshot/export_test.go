package snapshot

// ListenFor is Listen with another time for orders to arrive in.
var ListenFor = listen
