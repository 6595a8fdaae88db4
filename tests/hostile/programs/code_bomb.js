// Makes code without end, which the engine compiles. Time or memory must stop it.
for (let n = 0; ; n++) new Function('x', `let y = ${n}; for (let i = 0; i < 9; i++) y += x * ${n}; return y`)(n);
