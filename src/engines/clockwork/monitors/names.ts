export const STATES = ['new', 'up', 'late', 'down', 'paused'] as const

/** What a ping says. Exit code 0 is success, any other is a failure. */
export const SIGNALS = ['success', 'start', 'fail', 'log'] as const
