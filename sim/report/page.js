/* What is under the pointer, in all plots of the same time at once; a part of the
 * time, in all of them; and a legend that points out. The page is complete without
 * it. Values are read back from
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

  /* ===== zoom: all plots of the whole run show the same part of it ===== */

  var whole = svgs.length ? svgs[0].dataset.x : '', view = null;

  function full(svg) { return svg.dataset.x.split(' ').map(Number); }

  function range(svg) {
    return view && svg.dataset.x === whole ? view : full(svg);
  }

  function label(seconds) {
    if (full(svgs[0])[1] <= 120.5) return text(seconds, 's');
    var m = Math.floor(seconds / 60), s = seconds - 60 * m;
    s = Number(s.toFixed(2));
    return m + ':' + (s < 10 ? '0' : '') + s;
  }

  function ticks(frame, from, to) {
    var steps = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 1800, 3600];
    var step = steps.find(function (s) { return s >= (to - from) / 5; }) || (to - from) / 5;
    frame.querySelectorAll('.x').forEach(function (e) { e.remove(); });
    for (var k = Math.ceil(from / step - 1e-9); k * step <= to; k++) {
      var e = put(frame, 'x', (k * step - from) / (to - from) * 100 + '%', 'span');
      e.textContent = k ? label(k * step) : '0';
    }
  }

  /* The names of faults, from where they are in the whole run. */
  function names(frame, all, from, to) {
    frame.querySelectorAll('.ft').forEach(function (e) {
      if (e.dataset.at === undefined)
        e.dataset.at = e.style.left ? parseFloat(e.style.left) : 100 - parseFloat(e.style.right);
      var t = all[0] + e.dataset.at / 100 * (all[1] - all[0]);
      var part = (t - from) / (to - from);
      e.hidden = part < 0 || part > 1;
      e.style.left = part > 0.6 ? '' : part * 100 + '%';
      e.style.right = part > 0.6 ? (1 - part) * 100 + '%' : '';
    });
  }

  function zoom(from, to) {
    var all = full(svgs[0]);
    from = Math.max(from, all[0]);
    to = Math.min(to, all[1]);
    if (!(to - from > (all[1] - all[0]) / 2000)) return;
    view = from > all[0] || to < all[1] ? [from, to] : null;
    clear();
    svgs.forEach(function (svg) {
      if (svg.dataset.x !== whole) return;
      var unit = 1500 / (all[1] - all[0]);
      svg.setAttribute('viewBox', (from - all[0]) * unit + ' 0 ' + (to - from) * unit + ' 600');
      svg.style.overflow = view ? 'hidden' : '';
      ticks(svg.parentNode, from, to);
      names(svg.parentNode, all, from, to);
    });
    document.querySelectorAll('.zoom button').forEach(function (b, i) {
      b.setAttribute('aria-pressed', String(i === (view ? 1 : 0)));
    });
  }

  /* From a little before the first fault to a while after the last one. */
  function fault() {
    var all = full(svgs[0]), unit = (all[1] - all[0]) / 1500, from = Infinity, to = 0;
    svgs.forEach(function (svg) {
      if (svg.dataset.x === whole) svg.querySelectorAll('.fault').forEach(function (r) {
        var x = Number(r.getAttribute('x')), wide = Number(r.getAttribute('width'));
        from = Math.min(from, all[0] + x * unit);
        to = Math.max(to, all[0] + (x + wide) * unit);
      });
    });
    var long = to - from;
    return [from - Math.max(1, long / 4), to + Math.max(2, 2 * long)];
  }

  function button(bar, name, act) {
    var b = document.createElement('button');
    b.type = 'button';
    b.textContent = name;
    b.addEventListener('click', act);
    bar.appendChild(b);
  }

  function offer() {
    if (!svgs.length) return;
    var all = full(svgs[0]), row = svgs[0].closest('.row'), near = fault();
    var bar = document.createElement('p');
    bar.className = 'zoom';
    button(bar, 'Whole run', function () { zoom(all[0], all[1]); });
    if (near[1] > near[0])
      button(bar, 'Around the fault', function () { zoom(near[0], near[1]); });
    put(bar, '', '', 'span').textContent = 'or drag across a plot';
    row.insertBefore(bar, row.querySelector('.plots'));
    bar.firstChild.setAttribute('aria-pressed', 'true');
    if (location.hash === '#fault' && near[1] > near[0]) zoom(near[0], near[1]);
  }

  /* ===== what is under the pointer ===== */

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
      lines.push(path.dataset.n + '  ' + (h <= 0 ? '≥ ' : '') + text(up, svg.dataset.u));
    });
    return lines;
  }

  function clear() {
    document.querySelectorAll('.cross, .read').forEach(function (e) { e.remove(); });
  }

  function put(frame, kind, left, tag) {
    var e = document.createElement(tag || 'div');
    e.className = kind;
    e.style.left = left;
    frame.appendChild(e);
    return e;
  }

  function show(svg, part) {
    var shown = range(svg);
    var t = shown[0] + part * (shown[1] - shown[0]);
    clear();
    svgs.forEach(function (other) {
      var r = range(other), all = full(other);
      var there = (t - r[0]) / (r[1] - r[0]);
      if (there < 0 || there > 1) return;
      put(other.parentNode, 'cross', there * 100 + '%');
      if (other.closest('.row') !== svg.closest('.row')) return;
      var lines = read(other, (t - all[0]) / (all[1] - all[0]) * 1500);
      if (!lines.length) return;
      var box = put(other.parentNode, 'read', '');
      box.textContent = [text(t, 's')].concat(lines).join('\n');
      if (there > 0.5) box.style.right = (1 - there) * 100 + 2 + '%';
      else box.style.left = there * 100 + 2 + '%';
    });
  }

  svgs.forEach(function (svg) {
    var frame = svg.parentNode;
    var from = null, sweep = null;
    function place(event) {
      var box = svg.getBoundingClientRect();
      return (event.clientX - box.left) / box.width;
    }
    function drop() {
      if (sweep) sweep.remove();
      from = sweep = null;
    }
    frame.addEventListener('pointermove', function (event) {
      var part = place(event);
      if (part < 0 || part > 1) return;
      show(svg, part);
      if (from === null) return;
      sweep = sweep || put(frame, 'sweep', '');
      sweep.style.left = Math.min(from, part) * 100 + '%';
      sweep.style.width = Math.abs(part - from) * 100 + '%';
    });
    frame.addEventListener('pointerleave', function () { clear(); drop(); });
    /* With a finger one scrolls. */
    frame.addEventListener('pointerdown', function (event) {
      if (event.pointerType !== 'mouse' || svg.dataset.x !== whole) return;
      from = Math.min(Math.max(place(event), 0), 1);
      event.preventDefault();
    });
    frame.addEventListener('pointerup', function (event) {
      var part = Math.min(Math.max(place(event), 0), 1), r = range(svg), a = from;
      drop();
      if (a === null || Math.abs(part - a) < 0.02) return;
      zoom(r[0] + Math.min(a, part) * (r[1] - r[0]), r[0] + Math.max(a, part) * (r[1] - r[0]));
    });
    frame.addEventListener('dblclick', function () {
      if (svg.dataset.x === whole) zoom(full(svg)[0], full(svg)[1]);
    });
  });

  offer();

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
