/** The scopes for reading deliveries: that of producers and that of endpoint managers. */
export const reads = ['relay:read', 'relay:endpoints'] as const
