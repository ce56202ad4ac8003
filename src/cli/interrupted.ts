import { constants } from 'node:os'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** What shells expect of a program that a signal has ended: 130 after Ctrl-C. */
const SIGNAL_EXIT = 128

/**
 * Runs `clean` when somebody ends the program before the returned function is called, then exits
 * as a signal would have it: what is half done must not stay behind. Synchronous work is ended
 * before a signal is heard.
 */
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
