// Leaves a report of a full heap without having one. This language's own reports look the same, so that it is believed: that
// a failure becomes another failure must be all that comes of it.
require('fs').writeFileSync('/run/report/report.json', '{}');
process.exit(3);
