import { t } from 'elysia'

/** The owners of the tenant, or the admins of the installation, at their verified addresses. */
export const owners = {
  type: 'owners',
  label: 'Owners by email',
  Settings: t.Object({}),
  secrets: [],
  hintOf: () => 'Owners with a verified email address',
}

const Settings = t.Object({
  address: t.String({
    minLength: 3,
    maxLength: 320,
    expected: 'the verified email address of a member',
    examples: ['ada@example.com'],
  }),
})

/** A member of the tenant, or an admin of the installation: others have not agreed to emails. */
export const email = {
  type: 'email',
  label: 'Email',
  Settings,
  secrets: [],
  hintOf: ({ address }: typeof Settings.static) => address,
}
