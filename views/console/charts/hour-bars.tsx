export interface HourBar {
  good: number
  bad: number
}

const HEIGHT = 22

/** Successes and failures by hour, small enough for a table row. */
export const HourBars = ({ bars, label }: { bars: readonly HourBar[]; label: string }) => {
  const top = Math.max(1, ...bars.map(({ good, bad }) => good + bad))
  const width = 100 / Math.max(1, bars.length)
  return (
    <svg class="hourbars" height={HEIGHT} role="img" aria-label={label}>
      {bars.map(({ good, bad }, index) => {
        const goodHeight = heightOf(good, top)
        const badHeight = heightOf(bad, top)
        const position = { x: `${index * width + width * 0.14}%`, width: `${width * 0.72}%` }
        if (good + bad === 0)
          return <rect class="none" {...position} y={HEIGHT - 1.5} height={1.5} />
        return (
          <>
            {good > 0 && (
              <rect class="good" {...position} y={HEIGHT - goodHeight} height={goodHeight} rx="1" />
            )}
            {bad > 0 && (
              <rect
                class="bad"
                {...position}
                y={HEIGHT - goodHeight - badHeight - (good > 0 ? 1 : 0)}
                height={badHeight}
                rx="1"
              />
            )}
          </>
        )
      })}
    </svg>
  )
}

const heightOf = (amount: number, top: number): number =>
  amount === 0 ? 0 : Math.max(2, Math.round((amount / top) * (HEIGHT - 3) * 10) / 10)
