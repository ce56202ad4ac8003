import { presented } from '../../console/operators/presented.ts'
import { ROLES, type Role } from '../../console/operators/rights.ts'
import { normaliseEmail } from '../../engines/gate/identities/email.ts'
import { AppError, conflict, invalid, notFound, renamed } from '../../platform/errors.ts'
import { openSystemTenant } from '../../platform/system-tenant.ts'
import { type Answer, type Command, type Invocation, oneOf, UsageError } from '../command.ts'
import { type OfflineServices, withNewServices, withServices } from '../open.ts'
import { EMAIL, runsOf, securedNote, signInHint } from './present.ts'

export const operatorCreate: Command = {
  name: 'operator create',
  summary: 'Create an operator of the console, or give an operator more rights.',
  options: {
    email: EMAIL,
    name: { type: 'string', value: 'NAME', help: 'Display name.' },
    tenant: { type: 'string', value: 'ID', help: 'A tenant to give them a role in. Needs --role.' },
    role: { type: 'string', value: 'ROLE', help: `Role in the tenant: ${ROLES.join(', ')}.` },
    admin: {
      type: 'boolean',
      help: 'Make them an admin of the installation: tenants, plans, backups.',
    },
    'password-stdin': {
      type: 'boolean',
      help: 'Read a password from standard input. Without one, they sign in with operator login-link.',
    },
  },
  run: async ({ config, io, options }) => {
    const wanted = wantedIn(options)
    const password = options['password-stdin'] ? passwordIn(await io.in()) : undefined
    // A new data directory has no tenants, so with --tenant it is the wrong one.
    const open = wanted.part ? withServices : withNewServices
    return open(config, async (services) => {
      const { db, clock } = services
      await openSystemTenant({ db, clock })
      const access = accessOf(services, wanted)
      const known = access.accounts.find(wanted.email)
      return known ? giveMore(access, known, wanted) : create(access, { ...wanted, password })
    })
  },
}

interface Wanted {
  email: string
  name: string
  part: { tenantId: string; role: Role } | undefined
  isAdmin: boolean
  /** Given options that apply only to a new operator. */
  ofNewcomers: string[]
}

/** Parses the options before anything is read or created. */
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
  if (tenant === undefined) throw new UsageError('--role: add --tenant')
  if (role === undefined) throw new UsageError(`--tenant: add --role, one of ${ROLES.join(', ')}`)
  return { tenantId: `${tenant}`, role: oneOf(ROLES, 'role', role) }
}

/** The password without a final line break; blanks are part of it. */
function passwordIn(typed: string): string {
  const password = typed.replace(/\r?\n$/, '')
  if (password === '')
    throw invalid('standard input is empty', { field: '--password-stdin', rule: 'required' })
  if (/[\r\n]/.test(password))
    throw invalid('must be one line', { field: '--password-stdin', rule: 'format' })
  return password
}

type OperatorAccess = ReturnType<typeof accessOf>
type KnownOperator = NonNullable<ReturnType<OperatorAccess['accounts']['find']>>

/** The services that create operators. Throws `not_found` for an unknown tenant. */
function accessOf({ actor, tenants, operators }: OfflineServices, { part }: Wanted) {
  if (part && !tenants.exists(part.tenantId))
    throw notFound('tenant not found. See tenant list', { field: '--tenant', rule: 'unknown' })
  return { ...operators(), actor }
}

/** Creates an operator with an unverified address. */
async function create(
  { accounts, store, provisioning, actor }: OperatorAccess,
  { email, name, password, isAdmin, part }: Wanted & { password: string | undefined },
): Promise<Answer> {
  const account = { email, displayName: name, password, isAdmin, membership: part }
  const made = await reworded(byOption, () => provisioning.create(actor, account))
  const operator = presented(store, accounts.operatorList.of(made))
  const text =
    `Created operator ${made.email} (not verified). Access: ${runsOf(operator) || 'none yet'}.\n${made.id}\n` +
    signInHint(made.email)
  return { json: { ...operator, created: true }, text }
}

/** Gives an existing operator more rights. Throws `conflict` if there is nothing to give. */
async function giveMore(
  { store, accounts, provisioning, actor }: OperatorAccess,
  known: KnownOperator,
  { isAdmin, part, ofNewcomers }: Wanted,
): Promise<Answer> {
  const difference = await reworded(
    () => (part ? '--role' : '--email'),
    () => provisioning.grant(actor, known, { isAdmin, membership: part }),
  )
  if (difference === 'none')
    throw conflict(
      part || isAdmin
        ? 'this operator already has that access'
        : 'an operator already has this address. To give them more access, use --admin, or --tenant with --role',
      { field: '--email', rule: 'taken' },
    )
  const operator = presented(store, accounts.operatorList.of(known))
  const kept = ofNewcomers.map((option) => `--${option}`).join(' and ')
  const text =
    `Updated operator ${known.email}. Access: ${runsOf(operator)}.` +
    (kept && `\nIgnored ${kept}: only for new operators.`) +
    (difference === 'more' && !operator.email_verified ? `\n${securedNote(known.email)}` : '')
  return { json: { ...operator, created: false }, text }
}

/** Options by the service's name of the field. */
const OPTIONS: Readonly<Record<string, string>> = {
  'traits.email': '--email',
  'traits.display_name': '--name',
  password: '--password-stdin',
}

const byOption = (field: string | undefined) => OPTIONS[field ?? ''] ?? field

/** Runs `work` and names the option in its error. */
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
