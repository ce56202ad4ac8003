import type { Role } from '../../../src/console/operators/rights.ts'
import { ROLES } from '../../../src/console/operators/rights.ts'
import type { MemberRow } from '../../../src/console/operators/store/memberships.ts'
import { Radios } from '../form/choices.tsx'

/** What a role lets somebody do, where people choose one. */
export const ROLE_WORDS: Record<Role, { label: string; plural: string; text: string }> = {
  owner: {
    label: 'Owner',
    plural: 'Owners',
    text: 'Does everything: keys, team, bills, deleting',
  },
  member: {
    label: 'Member',
    plural: 'Members',
    text: 'Runs what is there; no keys, team or bills, and deletes nothing',
  },
  viewer: { label: 'Viewer', plural: 'Viewers', text: 'Sees all but keys, and changes nothing' },
}

/** As others know somebody: by name, else by address. */
export const nameOf = ({ traits, email }: Pick<MemberRow, 'traits' | 'email'>): string => {
  const { display_name: name } = JSON.parse(traits) as { display_name?: string }
  return name || email
}

/** What stays and what goes with somebody. */
export const OF_THEIRS = 'Keys stay; invitations sent by whoever goes are revoked.'

/** Chooses what somebody may do. */
export const RoleField = (field: { value: string; error: string | undefined; help?: string }) => (
  <Radios
    {...field}
    name="role"
    label="Role"
    options={ROLES.map((value) => ({
      value,
      label: ROLE_WORDS[value].label,
      text: ROLE_WORDS[value].text,
    }))}
  />
)
