import type { Tone } from '../status.tsx'

/** A progress bar. */
export const Meter = (meter: {
  label: string
  value: number
  max: number
  tone?: Tone
  /** Value as text, such as "8,120 of 10,000". */
  amount: string
}) => (
  <div class={`meter ${meter.tone ?? 'accent'}`}>
    <p>
      <span>{meter.label}</span>
      <span>{meter.amount}</span>
    </p>
    <svg height="6" role="img" aria-label={`${meter.label}: ${meter.amount}`}>
      <rect class="lanetrack" width="100%" height="6" rx="3" />
      <rect
        class="span"
        width={`${Math.min(100, Math.round((meter.value / Math.max(1, meter.max)) * 1000) / 10)}%`}
        height="6"
        rx="3"
      />
    </svg>
  </div>
)
