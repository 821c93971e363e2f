/* What is under the pointer, in all plots of the same time at once; and a legend
 * that points out. The page is complete without it. Values are read back from
 * the paths (page_path.c says how they are written). */
(function () {
  'use strict';
  var svgs = Array.prototype.slice.call(document.querySelectorAll('svg[data-x]'));

  function points(path) {
    var at = [], x = 0, y = 0;
    var d = path.getAttribute('d').replace(/L[^z]*z/g, '');
    (d.match(/[Ml][-\d ]+/g) || []).forEach(function (part) {
      var n = part.match(/-?\d+/g).map(Number);
      for (var i = 0; i + 1 < n.length; i += 2) {
        if (part[0] === 'M') {
          x = n[i]; y = n[i + 1];
          at.push([x, y, true]);
        } else {
          x += n[i]; y += n[i + 1];
          at.push([x, y, false]);
        }
      }
    });
    return at;
  }

  function heightAt(path, x) {
    var at = path.points || (path.points = points(path));
    for (var i = 1; i < at.length; i++) {
      if (at[i][2] || at[i - 1][0] > x || at[i][0] < x) continue;
      var wide = at[i][0] - at[i - 1][0];
      var part = wide ? (x - at[i - 1][0]) / wide : 1;
      return at[i - 1][1] + part * (at[i][1] - at[i - 1][1]);
    }
    return null;
  }

  function text(value, unit) {
    if (unit === '%') value *= 100;
    if (unit === 's' && value < 1) { value *= 1000; unit = 'ms'; }
    var n = value >= 100 ? Math.round(value) : Number(value.toPrecision(3));
    if (Math.abs(value) < 1e-9) n = 0;
    return n.toLocaleString('en') + (unit[0] === '/' || !unit ? unit : ' ' + unit);
  }

  function read(svg, x) {
    var y = svg.dataset.y.split(' ').map(Number), below = 600, lines = [];
    svg.querySelectorAll('[data-n]').forEach(function (path) {
      var h = heightAt(path, x), up;
      if (h === null) return; /* a gap, or nothing of it */
      if (y[2]) up = y[0] * Math.pow(y[1] / y[0], 1 - h / 600);
      else up = y[0] + (1 - h / 600) * (y[1] - y[0]);
      if (path.classList.contains('stack')) {
        up = (below - h) / 600 * (y[1] - y[0]);
        below = h;
      }
      lines.push(path.dataset.n + '  ' + text(up, svg.dataset.u));
    });
    return lines;
  }

  function clear() {
    document.querySelectorAll('.cross, .read').forEach(function (e) { e.remove(); });
  }

  function put(frame, kind, left) {
    var e = document.createElement('div');
    e.className = kind;
    e.style.left = left;
    frame.appendChild(e);
    return e;
  }

  function show(svg, part) {
    var range = svg.dataset.x.split(' ').map(Number);
    var t = range[0] + part * (range[1] - range[0]);
    clear();
    svgs.forEach(function (other) {
      var r = other.dataset.x.split(' ').map(Number);
      var there = (t - r[0]) / (r[1] - r[0]);
      if (there < 0 || there > 1) return;
      put(other.parentNode, 'cross', there * 100 + '%');
      if (other.closest('.row') !== svg.closest('.row')) return;
      var lines = read(other, there * 1500);
      if (!lines.length) return;
      var box = put(other.parentNode, 'read', '');
      box.textContent = [text(t, 's')].concat(lines).join('\n');
      if (there > 0.5) box.style.right = (1 - there) * 100 + 2 + '%';
      else box.style.left = there * 100 + 2 + '%';
    });
  }

  svgs.forEach(function (svg) {
    var frame = svg.parentNode;
    frame.addEventListener('pointermove', function (event) {
      var box = svg.getBoundingClientRect();
      var part = (event.clientX - box.left) / box.width;
      if (part >= 0 && part <= 1) show(svg, part);
    });
    frame.addEventListener('pointerleave', clear);
  });

  document.querySelectorAll('.legend span').forEach(function (chip) {
    var row = chip.closest('.row'), name = chip.textContent;
    chip.addEventListener('pointerenter', function () {
      var any = false;
      row.querySelectorAll('[data-n]').forEach(function (path) {
        var on = path.dataset.n === name;
        any = any || on;
        path.classList.toggle('on', on);
      });
      row.classList.toggle('dim', any);
    });
    chip.addEventListener('pointerleave', function () {
      row.classList.remove('dim');
    });
  });
})();
