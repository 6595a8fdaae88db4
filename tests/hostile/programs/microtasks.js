// Never lets the event loop turn: each promise makes the next. The CPU limit must end it.
const again = () => Promise.resolve().then(again);
again();
setTimeout(() => console.log('never'), 0);
