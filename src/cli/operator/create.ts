import { newcomer } from '../../console/operators/grantees.ts'
import { outranks, ROLES, type Role } from '../../console/operators/rights.ts'
import { normaliseEmail } from '../../engines/gate/email.ts'
import { AppError, conflict, invalid, notFound, renamed } from '../../platform/errors.ts'
import { openHouse } from '../../platform/house.ts'
import type { Tenant } from '../../platform/tenants.ts'
import { type Answer, type Command, type Invocation, oneOf, UsageError } from '../command.ts'
import { type Offices, withNewOffices, withOffices } from '../open.ts'
import { EMAIL, present, runsOf, securedNote, wayIn } from './present.ts'

export const operatorCreate: Command = {
  name: 'operator create',
  summary: 'Let somebody use the console, or give an operator more to run.',
  options: {
    email: EMAIL,
    name: { type: 'string', value: 'NAME', help: 'What others call them.' },
    tenant: { type: 'string', value: 'ID', help: 'A tenant that they help run, with --role.' },
    role: { type: 'string', value: 'ROLE', help: `What they are there: ${ROLES.join(', ')}.` },
    admin: { type: 'boolean', help: 'They run the installation: tenants, plans, backups.' },
    'password-stdin': {
      type: 'boolean',
      help: 'Read a password from standard input; without one they come in by operator login-link.',
    },
  },
  run: async ({ config, io, options }) => {
    const wanted = wantedIn(options)
    const password = options['password-stdin'] ? passwordIn(await io.in()) : undefined
    // A tenant cannot be in a directory that is new: the wrong one was named.
    const open = wanted.part ? withOffices : withNewOffices
    return open(config, async (offices) => {
      const { db, clock } = offices
      await openHouse({ db, clock })
      const desk = deskOf(offices, wanted)
      const known = desk.accounts.find(wanted.email)
      return known ? giveMore(desk, known, wanted) : create(desk, { ...wanted, password })
    })
  },
}

interface Wanted {
  email: string
  name: string
  part: { tenantId: string; role: Role } | undefined
  isAdmin: boolean
  /** Options that are for somebody new alone. */
  ofNewcomers: string[]
}

/** Looked at before anything is read or made. */
function wantedIn(options: Invocation['options']): Wanted {
  const { email, name, admin } = options
  return {
    email: normaliseEmail(`${email}`, '--email'),
    name: name === undefined ? '' : `${name}`,
    part: partIn(options),
    isAdmin: admin === true,
    ofNewcomers: ['name', 'password-stdin'].filter((option) => options[option] !== undefined),
  }
}

function partIn({ tenant, role }: Invocation['options']): Wanted['part'] {
  if (tenant === undefined && role === undefined) return undefined
  if (tenant === undefined) throw new UsageError('--role: needs the --tenant that it is for')
  if (role === undefined) throw new UsageError(`--tenant: needs a --role: ${ROLES.join(', ')}`)
  return { tenantId: `${tenant}`, role: oneOf(ROLES, 'role', role) }
}

/** As `echo` and editors leave it; blanks are part of a password. */
function passwordIn(typed: string): string {
  const password = typed.replace(/\r?\n$/, '')
  if (password === '')
    throw invalid('found no password on standard input', {
      field: '--password-stdin',
      rule: 'required',
    })
  if (/[\r\n]/.test(password))
    throw invalid('must be one line', { field: '--password-stdin', rule: 'format' })
  return password
}

type Desk = ReturnType<typeof deskOf>
type KnownOperator = NonNullable<ReturnType<Desk['accounts']['find']>>

/** The offices that operators are made in. Throws `not_found` for a tenant that is not there. */
function deskOf({ db, actor, tenants, operators }: Offices, { part }: Wanted) {
  const office = operators()
  const place = part && { role: part.role, tenant: tenantOf(part.tenantId) }

  function tenantOf(id: string): Tenant {
    if (tenants.exists(id)) return tenants.find(id)
    throw notFound('is not the id of a tenant. To see all, run tenant list', {
      field: '--tenant',
      rule: 'unknown',
    })
  }

  return { ...office, db, actor, place }
}

/** Nobody has shown yet that the mailbox is theirs. */
async function create(
  { accounts, store, memberships, admins, actor, place }: Desk,
  { email, name, password, isAdmin }: Wanted & { password: string | undefined },
): Promise<Answer> {
  const account = { email, displayName: name, password, isVerified: false }
  const made = await reworded(byOption, () =>
    accounts.create(actor, account, (operator) => {
      const grantee = newcomer(operator)
      if (place) memberships.give(actor, place.tenant.id, grantee, place.role)
      if (isAdmin) admins.add(actor, grantee)
    }),
  )
  const operator = present(store, accounts.roster.of(made))
  const text =
    `Created operator ${made.email} (not verified), who runs ${runsOf(operator) || 'nothing yet'}.\n${made.id}\n` +
    wayIn(made.email)
  return { json: { ...operator, created: true }, text }
}

/** Throws `conflict` where there is nothing to give: whoever expects somebody new is told. */
async function giveMore(
  { store, accounts, memberships, admins, grantees, db, actor, place }: Desk,
  known: KnownOperator,
  { isAdmin, ofNewcomers }: Wanted,
): Promise<Answer> {
  const { id, email } = known
  const before = place && store.roleIn(place.tenant.id, id)
  const isOtherRole = place !== undefined && before !== place.role
  const isMore = place !== undefined && outranks(place.role, before)
  const isNewAdmin = isAdmin && !store.isAdmin(id)
  if (!isOtherRole && !isNewAdmin)
    throw conflict(
      place || isAdmin
        ? 'is the address of an operator who has all of that'
        : 'is the address of an operator. To give them more, add --tenant with --role, or --admin',
      { field: '--email', rule: 'taken' },
    )
  if (isOtherRole && !isMore)
    await reworded(
      () => '--role',
      () => memberships.change(actor, place.tenant.id, known, place.role),
    )
  const isGrant = isMore || isNewAdmin
  if (isGrant)
    await db.commit(() => {
      const grantee = grantees.secured(actor, known)
      if (isMore) memberships.give(actor, place.tenant.id, grantee, place.role)
      if (isNewAdmin) admins.add(actor, grantee)
    })
  const operator = present(store, accounts.roster.of(known))
  const kept = ofNewcomers.map((option) => `--${option}`).join(' and ')
  const text =
    `${email} was an operator before, and now runs ${runsOf(operator)}.` +
    (kept && `\nNothing else has changed: ${kept} would be for somebody new.`) +
    (isGrant && !operator.email_verified ? `\n${securedNote(email)}` : '')
  return { json: { ...operator, created: false }, text }
}

/** Options by the names that the API has for their fields. */
const OPTIONS: Readonly<Record<string, string>> = {
  'traits.email': '--email',
  'traits.display_name': '--name',
  password: '--password-stdin',
}

const byOption = (field: string | undefined) => OPTIONS[field ?? ''] ?? field

/** Errors name the options that were typed, not the fields that they fill. */
async function reworded<T>(
  optionOf: (field: string | undefined) => string | undefined,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof AppError ? renamed(error, optionOf) : error
  }
}
