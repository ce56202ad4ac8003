import { Radios } from '../../../../views/ui/form/choices.tsx'
import type { Fields } from '../../../http/body.ts'
import { fail, invalid } from '../../../platform/errors.ts'
import { trimmedText } from '../../form.ts'
import { ROLES, type Role } from '../../operators/rights.ts'
import type { MemberRow } from '../../operators/store/memberships.ts'

/** Label and permissions of each role. */
export const ROLE_WORDS: Record<Role, { label: string; plural: string; text: string }> = {
  owner: {
    label: 'Owner',
    plural: 'Owners',
    text: 'Full access, including API keys, team and billing',
  },
  member: {
    label: 'Member',
    plural: 'Members',
    text: 'Can create and edit, but not delete or manage API keys, team or billing',
  },
  viewer: { label: 'Viewer', plural: 'Viewers', text: 'Can view everything except API keys' },
}

/** Display name of a member, or the email address. */
export const nameOf = ({ traits, email }: Pick<MemberRow, 'traits' | 'email'>): string => {
  const { display_name: name } = JSON.parse(traits) as { display_name?: string }
  return name || email
}

/** Consequences of leaving a team, and of removing a member. */
export const LEAVING =
  'You lose access immediately. API keys stay active. Invitations that you sent are revoked.'
export const REMOVING =
  'They lose access immediately. API keys stay active. Invitations that they sent are revoked.'

/** Radio buttons for a role. */
export const RoleField = (field: { value: string; help?: string }) => (
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

export const roleIn = (fields: Fields): Role =>
  ROLES.find((one) => one === trimmedText(fields, 'role')) ??
  fail(invalid(`must be one of ${ROLES.join(', ')}`, { field: 'role', rule: 'choice' }))
