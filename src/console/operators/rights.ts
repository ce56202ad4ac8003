/** Of an operator in a tenant, the one that allows most first. */
export const ROLES = ['owner', 'member', 'viewer'] as const
export type Role = (typeof ROLES)[number]

/** Whether a role allows more than another, or than none. */
export const outranks = (role: Role, other: Role | undefined): boolean =>
  other === undefined || ROLES.indexOf(role) < ROLES.indexOf(other)

/** What somebody may want to do in a tenant. */
const RIGHTS = ['read', 'change', 'delete', 'keys', 'team', 'billing'] as const
export type Right = (typeof RIGHTS)[number]

/** Members run the engines; owners also decide who gets in, by key or as a person, and what it costs. */
const HELD: Record<Role, readonly Right[]> = {
  owner: RIGHTS,
  member: ['read', 'change'],
  viewer: ['read'],
}

export const may = (role: Role, right: Right): boolean => HELD[role].includes(right)
