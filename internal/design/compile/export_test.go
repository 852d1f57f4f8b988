package compile

var Successor = successor
