import { SIGN_IN_MS } from '../../console/operators/links.ts'
import { presented } from '../../console/operators/presented.ts'
import type { Operator } from '../../engines/gate/operators/list.ts'
import { baseUrlOf } from '../../http/urls.ts'
import { MINUTE_MS } from '../../platform/durations.ts'
import { AppError, conflict, fail, notFound, renamed } from '../../platform/errors.ts'
import type { Command, Invocation } from '../command.ts'
import { addressNote } from '../first-steps.ts'
import { type OfflineServices, withServices } from '../open.ts'
import { EMAIL, named, securedNote } from './present.ts'

export const operatorLoginLink: Command = {
  name: 'operator login-link',
  summary: 'Create a link that signs an operator in, without a password or email.',
  options: { email: EMAIL },
  run: ({ config, io, options }) =>
    withServices(config, async (services) => {
      const { links, operator } = accessOf(services, options)
      if (operator.state === 'inactive')
        throw conflict('this account is deactivated. Run operator reactivate first', {
          field: '--email',
          rule: 'not_allowed',
        })
      const token = await links.issueSignIn(services.actor, operator.id)
      const url = `${baseUrlOf(config.server)}/console/link/${token}`
      const note = addressNote(config.server)
      if (note) io.err(`${note}\n`)
      const validity = `The link works once, for ${SIGN_IN_MS / MINUTE_MS} minutes.`
      const text = operator.isVerified ? validity : `${validity}\n${secures(operator)}`
      return { json: { url }, text: `${url}\n\n${text}` }
    }),
}

const secures = ({ email }: Operator): string =>
  `${email} is not verified: using the link removes any password, two-factor authentication, social login, ` +
  'session and invitation of the account.'

export const operatorDeactivate = verb({
  name: 'operator deactivate',
  summary: 'Sign an operator out everywhere and block sign-in.',
  act: ({ admins, actor }, id) => admins.deactivate(actor, id),
  done: (operator) => `${named(operator)} is deactivated and signed out everywhere.`,
})

export const operatorReactivate = verb({
  name: 'operator reactivate',
  summary: 'Let a deactivated operator sign in again.',
  act: ({ admins, actor }, id) => admins.reactivate(actor, id),
  done: ({ email, state, isVerified }) => {
    const text = `${email} is active and can sign in again.`
    return state === 'active' || isVerified ? text : `${text}\n${securedNote(email)}`
  },
})

export const operatorSignOut = verb({
  name: 'operator sign-out',
  summary: 'End all sessions and sign-in links of an operator.',
  act: ({ admins, actor }, id) => admins.signOut(actor, id),
  done: (operator) => `${named(operator)} is signed out everywhere.`,
})

export const operatorTakeAdmin = verb({
  name: 'operator take-admin',
  summary: 'Remove the admin right of an operator, who keeps their roles in tenants.',
  act: ({ admins, actor }, id) => admins.take(actor, id),
  done: (operator) => `${named(operator)} is not an admin.`,
})

type OperatorAccess = ReturnType<typeof accessOf>

/** A command on one operator; it also succeeds if there is nothing to change. */
function verb(of: {
  name: string
  summary: string
  act: (access: OperatorAccess, id: string) => Promise<void>
  /** The printed sentence, given the operator before the change. */
  done: (operator: Operator) => string
}): Command {
  const { name, summary, act, done } = of
  return {
    name,
    summary,
    options: { email: EMAIL },
    run: ({ config, options }) =>
      withServices(config, async (services) => {
        const access = accessOf(services, options)
        const { id } = access.operator
        await aboutEmail(() => act(access, id))
        const json = presented(access.store, access.admins.existing(id))
        return { json, text: done(access.operator) }
      }),
  }
}

/** The operator services, and the operator with the address. Throws `not_found` without one. */
function accessOf({ operators, actor }: OfflineServices, { email }: Invocation['options']) {
  const operatorServices = operators()
  const row = operatorServices.accounts.find(`${email}`)
  const operator: Operator = row ? operatorServices.accounts.operatorList.of(row) : fail(UNKNOWN)
  return { ...operatorServices, actor, operator }
}

const UNKNOWN = notFound('no operator has this address. See operator list', {
  field: '--email',
  rule: 'unknown',
})

/** Runs `work` and names the option in its error. */
async function aboutEmail(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    throw error instanceof AppError ? renamed(error, () => '--email') : error
  }
}
