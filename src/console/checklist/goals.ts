/** What a tenant can start with, in the order of the pages that lead there. */
export const GOALS = ['users', 'jobs', 'webhooks', 'messenger-login'] as const
export type Goal = (typeof GOALS)[number]
