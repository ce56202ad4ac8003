export const POLICIES = '/console/policies'
export const DECISIONS = `${POLICIES}/decisions`
