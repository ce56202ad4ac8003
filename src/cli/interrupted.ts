import { constants } from 'node:os'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Added to the signal's number, as shells expect: 130 after Ctrl-C. */
const SIGNAL_EXIT = 128

/** Until the result is called, a signal runs `clean` and exits, after any synchronous work. */
export function onInterrupt(clean: () => void): () => void {
  const end = (signal: NodeJS.Signals) => {
    try {
      clean()
    } finally {
      process.exit(SIGNAL_EXIT + constants.signals[signal])
    }
  }
  for (const signal of SIGNALS) process.once(signal, end)
  return () => {
    for (const signal of SIGNALS) process.off(signal, end)
  }
}
