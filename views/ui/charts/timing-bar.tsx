import { duration } from '../time.tsx'

export interface Timings {
  dns?: number
  connect?: number
  tls?: number
  wait?: number
  read?: number
}

const PHASES = [
  ['dns', 'DNS'],
  ['connect', 'Connect'],
  ['tls', 'TLS'],
  ['wait', 'Wait'],
  ['read', 'Read'],
] as const

/** Duration of each phase of a request, as a waterfall. */
export const TimingBar = ({ timings }: { timings: Timings }) => {
  const total = PHASES.reduce((sum, [phase]) => sum + (timings[phase] ?? 0), 0)
  const longest = Math.max(...PHASES.map(([phase]) => timings[phase] ?? 0))
  let begun = 0
  return (
    <table class="timing">
      <caption>
        {duration(total)} <span class="hint">total</span>
      </caption>
      <tbody>
        {PHASES.map(([phase, label]) => {
          const took = timings[phase]
          const from = begun
          begun += took ?? 0
          return (
            <tr>
              <th scope="row">{label}</th>
              <td class="lane">
                <svg height="10" aria-hidden="true">
                  <rect class="lanetrack" width="100%" y="4" height="2" rx="1" />
                  {took !== undefined && (
                    <rect
                      class={took === longest ? 'span longest' : 'span'}
                      x={`${percent(from, total)}%`}
                      width={`${Math.max(0.6, percent(took, total))}%`}
                      height="10"
                      rx="2"
                    />
                  )}
                </svg>
              </td>
              <td class="right">{took === undefined ? 'reused' : duration(took)}</td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

const percent = (part: number, whole: number): number =>
  whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 100
