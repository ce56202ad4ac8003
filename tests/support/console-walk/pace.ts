/** Times of the keystroke-level model for average typing, and for reading each new line once. */
const KEYSTROKE_MS = 280
const POINTING_MS = 1_300
const THINKING_MS = 1_350
const WORD_MS = 130

export type Pace = ReturnType<typeof createPace>

/** Adds up the time that a person takes, apart from that of the machine. */
export function createPace() {
  let took = 0
  const known = new Set<string>()
  const takes = (ms: number) => {
    took += ms
  }
  return {
    clicks: () => takes(THINKING_MS + POINTING_MS),
    types: (text: string) => takes(THINKING_MS + POINTING_MS + text.length * KEYSTROKE_MS),
    /** Pasting takes the same for any length. */
    pastes: () => takes(THINKING_MS + POINTING_MS + 4 * KEYSTROKE_MS),
    reads: (text: string) => {
      const lines = text.split('\n').filter((line) => !known.has(line))
      for (const line of lines) known.add(line)
      takes((lines.join('\n').match(/\S+/g)?.length ?? 0) * WORD_MS)
    },
    ms: () => took,
  }
}
