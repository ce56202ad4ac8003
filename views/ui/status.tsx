import { capitalized } from './words.ts'

/** State of a thing, which decides its color and icon. */
export type Tone = 'good' | 'warn' | 'bad' | 'busy' | 'quiet'

/** A state as icon, color and word. Capitalizes the word. */
export const StatusBadge = ({ tone, word }: { tone: Tone; word: string }) => (
  <span class={`state ${tone}`}>
    <StatusShape tone={tone} />
    <span>{capitalized(word)}</span>
  </span>
)

/** Icon of a state, without its word, which the page shows in another place. */
export const StatusShape = ({ tone }: { tone: Tone }) => (
  <svg class={`shape ${tone}`} viewBox="0 0 14 14" width="14" height="14" aria-hidden="true">
    {SHAPES[tone]}
  </svg>
)

const SHAPES = {
  good: (
    <>
      <circle class="body" cx="7" cy="7" r="6" />
      <path class="sign" d="m4.4 7.2 1.9 1.9 3.4-3.9" />
    </>
  ),
  warn: (
    <>
      <path
        class="body"
        d="M6.2 1.8a.9.9 0 0 1 1.6 0l5.1 9.6a.9.9 0 0 1-.8 1.3H1.9a.9.9 0 0 1-.8-1.3z"
      />
      <path class="sign" d="M7 5.2v3M7 10.4v.05" />
    </>
  ),
  bad: (
    <>
      <circle class="body" cx="7" cy="7" r="6" />
      <path class="sign" d="m4.9 4.9 4.2 4.2M9.1 4.9 4.9 9.1" />
    </>
  ),
  busy: (
    <>
      <circle class="track" cx="7" cy="7" r="5.2" />
      <path class="turn" d="M7 1.8A5.2 5.2 0 0 1 12.2 7" />
    </>
  ),
  quiet: <circle class="hollow" cx="7" cy="7" r="5.2" />,
}
