import { SIGN_IN_MS } from '../console/operators/links.ts'
import { ROLES, type Role } from '../console/operators/rights.ts'
import type { OperatorStore } from '../console/operators/store.ts'
import { normaliseEmail } from '../engines/gate/email.ts'
import type { HouseAccounts } from '../engines/gate/house/accounts.ts'
import { baseUrlOf } from '../http/urls.ts'
import { isoTime } from '../platform/clock.ts'
import { AppError, conflict, fail, invalid, notFound } from '../platform/errors.ts'
import { HOUSE_ID, openHouse } from '../platform/house.ts'
import type { Tenant } from '../platform/tenants.ts'
import {
  type Answer,
  type Command,
  type Invocation,
  type Option,
  oneOf,
  table,
  UsageError,
} from './command.ts'
import { addressNote } from './first-steps.ts'
import { type Offices, withNewOffices, withOffices } from './open.ts'

const EMAIL: Option = {
  type: 'string',
  value: 'ADDRESS',
  help: 'Their e-mail address.',
  required: true,
}

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

export const operatorList: Command = {
  name: 'operator list',
  summary: 'List those who use the console, and what they run.',
  run: ({ config }) =>
    withOffices(config, ({ operators }) => {
      const { store } = operators()
      const list = store.everybody().map((person) => present(store, person))
      const head = ['ID', 'EMAIL', 'NAME', 'STATE', 'RUNS']
      const text = list.length === 0 ? 'No operator yet.' : table([head, ...list.map(row)])
      return { json: { operators: list }, text }
    }),
}

export const operatorLoginLink: Command = {
  name: 'operator login-link',
  summary: 'Make a link that signs an operator in: the way back for who has lost it.',
  options: { email: EMAIL },
  run: ({ config, io, options }) =>
    withOffices(config, async ({ operators, actor }) => {
      const { accounts, links } = operators()
      const operator =
        accounts.find(`${options.email}`) ??
        fail(notFound('--email: no operator has this address; operator list shows all'))
      if (operator.state === 'inactive') throw conflict('--email: their account is deactivated')
      const token = await links.issueSignIn(actor, operator.id)
      const url = `${baseUrlOf(config.server)}/console/link/${token}`
      const note = addressNote(config.server)
      if (note) io.err(`${note}\n`)
      return { json: { url }, text: `${url}\n\nGood once, for ${SIGN_IN_MS / 60_000} minutes.` }
    }),
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
  if (password === '') throw invalid('--password-stdin: nothing stands on standard input')
  if (/[\r\n]/.test(password)) throw invalid('--password-stdin: expected one line')
  return password
}

type Desk = ReturnType<typeof deskOf>

/** The offices that operators are made in. Throws `not_found` for a tenant that is not there. */
function deskOf({ db, clock, audit, actor, tenants, operators }: Offices, { part }: Wanted) {
  const office = operators()
  const place = part && { role: part.role, tenant: tenantOf(part.tenantId) }

  function tenantOf(id: string): Tenant {
    if (tenants.exists(id)) return tenants.find(id)
    throw notFound('--tenant: tenant not found; tenant list shows all')
  }

  /** Within a commit. */
  function join(operatorId: string) {
    if (place) office.memberships.add(actor, place.tenant.id, operatorId, place.role)
  }

  /** Within a commit. */
  function makeAdmin(operatorId: string) {
    office.store.addAdmin(operatorId, clock.now())
    const object = `operator:${operatorId}`
    audit.record({ tenantId: HOUSE_ID, actor, action: 'admin.added', object })
  }

  return { ...office, db, actor, place, join, makeAdmin }
}

/** Nobody has shown yet that the mailbox is theirs. */
async function create(
  { accounts, store, actor, join, makeAdmin }: Desk,
  { email, name, password, isAdmin }: Wanted & { password: string | undefined },
): Promise<Answer> {
  const newcomer = { email, displayName: name, password, isVerified: false }
  const made = await reworded(byOption, () =>
    accounts.create(actor, newcomer, ({ id }) => {
      join(id)
      if (isAdmin) makeAdmin(id)
    }),
  )
  const operator = present(store, made)
  const text =
    `Created operator ${made.email}, who runs ${runsOf(operator) || 'nothing yet'}.\n${made.id}\n` +
    `To let them in: operator login-link --email ${made.email}`
  return { json: { ...operator, created: true }, text }
}

/** Throws `conflict` where there is nothing to give: whoever expects somebody new is told. */
async function giveMore(
  { store, memberships, db, actor, place, join, makeAdmin }: Desk,
  known: IdentityRow,
  { isAdmin, ofNewcomers }: Wanted,
): Promise<Answer> {
  const { id, email } = known
  const before = place && store.roleIn(place.tenant.id, id)
  const isOtherRole = place !== undefined && before !== place.role
  const isNewAdmin = isAdmin && !store.isAdmin(id)
  if (!isOtherRole && !isNewAdmin)
    throw conflict(
      place || isAdmin
        ? '--email: an operator has this address, and all of that already'
        : '--email: an operator has this address; --tenant with --role, or --admin, gives them more',
    )
  if (isOtherRole && before !== undefined)
    await reworded(
      (message) => `--role: ${message}`,
      () => memberships.change(actor, place.tenant.id, id, place.role),
    )
  await db.commit(() => {
    if (isOtherRole && before === undefined) join(id)
    if (isNewAdmin) makeAdmin(id)
  })
  const operator = present(store, known)
  const kept = ofNewcomers.map((option) => `--${option}`).join(' and ')
  const text =
    `${email} was an operator before, and now runs ${runsOf(operator)}.` +
    (kept && `\nNothing else has changed: ${kept} would be for somebody new.`)
  return { json: { ...operator, created: false }, text }
}

type IdentityRow = NonNullable<ReturnType<HouseAccounts['find']>>
type PersonRow = Pick<IdentityRow, 'id' | 'email' | 'traits' | 'state' | 'createdAt'>
type Operator = ReturnType<typeof present>

function present(store: OperatorStore, { id, email, traits, state, createdAt }: PersonRow) {
  const { display_name: name = null }: { display_name?: string | null } = JSON.parse(traits)
  return {
    id,
    email,
    name,
    state,
    admin: store.isAdmin(id),
    tenants: store
      .membershipsOf(id)
      .map(({ tenantId, tenantName, role }) => ({ id: tenantId, name: tenantName, role })),
    created_at: isoTime(createdAt),
  }
}

const row = (operator: Operator): string[] => [
  operator.id,
  operator.email,
  operator.name ?? '-',
  operator.state,
  runsOf(operator) || '-',
]

/** `the installation, Acme (owner)`; empty for who runs nothing. */
const runsOf = ({ admin, tenants }: Operator): string =>
  [
    ...(admin ? ['the installation'] : []),
    ...tenants.map(({ name, role }) => `${name} (${role})`),
  ].join(', ')

/** By the name of what the office calls them. */
const OPTIONS: Readonly<Record<string, string>> = {
  'traits.email': '--email',
  'traits.display_name': '--name',
  password: '--password-stdin',
}

const byOption = (message: string): string =>
  message.replace(/^[a-z._]+(?=: )/, (field) => OPTIONS[field] ?? field)

/** Whoever typed options is told of options. */
async function reworded<T>(words: (message: string) => string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof AppError ? new AppError(error.kind, words(error.message)) : error
  }
}
