// The worker of the playground runs the engine, a Go program that posts and gets messages.
'use strict';
importScripts('wasm_exec.js');
(function () {
  const go = new Go();
  const fail = function (err) { postMessage({event: 'failed', reason: String(err && err.message || err)}); };

  // The engine is compressed here, because many servers of static files compress nothing.
  fetch('engine.bin').then(function (r) {
    if (!r.ok) { throw new Error('engine.bin: ' + r.status + ' ' + r.statusText); }
    const plain = r.body.pipeThrough(new DecompressionStream('gzip'));
    return WebAssembly.instantiateStreaming(
      new Response(plain, {headers: {'Content-Type': 'application/wasm'}}), go.importObject);
  }).then(function (result) {
    return go.run(result.instance);
  }).then(function () { fail('the engine has ended'); }, fail);
})();
