/** Looking at what became of events: for those who send them, and those who run endpoints. */
export const reads = ['relay:read', 'relay:endpoints'] as const
