// A short knock when checkers move, made here: no file is loaded.

import { settings } from "./settings.js";

let context = null;

export function knock() {
  if (!settings().sound) return;
  context ??= new AudioContext();
  const now = context.currentTime;
  const tone = new OscillatorNode(context, { type: "triangle", frequency: 180 });
  const volume = new GainNode(context, { gain: 0.25 });
  tone.frequency.exponentialRampToValueAtTime(70, now + 0.08);
  volume.gain.exponentialRampToValueAtTime(0.001, now + 0.12);
  tone.connect(volume).connect(context.destination);
  tone.start(now);
  tone.stop(now + 0.13);
}
