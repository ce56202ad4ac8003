import { SIGN_IN_MS } from '../../console/operators/links.ts'
import type { Operator } from '../../engines/gate/house/roster.ts'
import { baseUrlOf } from '../../http/urls.ts'
import { AppError, conflict, fail, notFound, renamed } from '../../platform/errors.ts'
import type { Command, Invocation } from '../command.ts'
import { addressNote } from '../first-steps.ts'
import { type Offices, withOffices } from '../open.ts'
import { EMAIL, named, present, securedNote } from './present.ts'

export const operatorLoginLink: Command = {
  name: 'operator login-link',
  summary: 'Make a link that signs an operator in: the way back for who has lost it.',
  options: { email: EMAIL },
  run: ({ config, io, options }) =>
    withOffices(config, async (offices) => {
      const { links, operator } = deskOf(offices, options)
      if (operator.state === 'inactive')
        throw conflict('belongs to a deactivated account. Reactivate it first', {
          field: '--email',
          rule: 'not_allowed',
        })
      const token = await links.issueSignIn(offices.actor, operator.id)
      const url = `${baseUrlOf(config.server)}/console/link/${token}`
      const note = addressNote(config.server)
      if (note) io.err(`${note}\n`)
      const good = `Good once, for ${SIGN_IN_MS / 60_000} minutes.`
      const text = operator.isVerified ? good : `${good}\n${secures(operator)}`
      return { json: { url }, text: `${url}\n\n${text}` }
    }),
}

const secures = ({ email }: Operator): string =>
  `${email} is not verified: using the link removes any password, two-factor authentication, social login, ` +
  'session and invitation of the account.'

export const operatorDeactivate = verb({
  name: 'operator deactivate',
  summary: 'Sign an operator out everywhere, and keep them from signing in.',
  act: ({ admins, actor }, id) => admins.deactivate(actor, id),
  done: (operator) => `${named(operator)} is deactivated, and signed out everywhere.`,
})

export const operatorReactivate = verb({
  name: 'operator reactivate',
  summary: 'Let an operator who is deactivated sign in again.',
  act: ({ admins, actor }, id) => admins.reactivate(actor, id),
  done: ({ email, state, isVerified }) => {
    const text = `${email} is active, and may sign in again.`
    return state === 'active' || isVerified ? text : `${text}\n${securedNote(email)}`
  },
})

export const operatorSignOut = verb({
  name: 'operator sign-out',
  summary: 'End all sessions of an operator, and links that would let them in.',
  act: ({ admins, actor }, id) => admins.signOut(actor, id),
  done: (operator) => `${named(operator)} is signed out everywhere.`,
})

export const operatorTakeAdmin = verb({
  name: 'operator take-admin',
  summary: 'Keep an operator from running the installation; their tenants stay theirs.',
  act: ({ admins, actor }, id) => admins.take(actor, id),
  done: (operator) => `${named(operator)} does not run the installation.`,
})

type Desk = ReturnType<typeof deskOf>

/** A command on one operator. To be where it leads already is no failure. */
function verb(of: {
  name: string
  summary: string
  act: (desk: Desk, id: string) => Promise<void>
  /** In words, of the operator as they were before. */
  done: (operator: Operator) => string
}): Command {
  const { name, summary, act, done } = of
  return {
    name,
    summary,
    options: { email: EMAIL },
    run: ({ config, options }) =>
      withOffices(config, async (offices) => {
        const desk = deskOf(offices, options)
        const { id } = desk.operator
        await aboutEmail(() => act(desk, id))
        const json = present(desk.store, desk.admins.existing(id))
        return { json, text: done(desk.operator) }
      }),
  }
}

/** The offices, and whoever has the address. */
function deskOf({ operators, actor }: Offices, { email }: Invocation['options']) {
  const office = operators()
  const row = office.accounts.find(`${email}`)
  const operator: Operator = row ? office.accounts.roster.of(row) : fail(UNKNOWN)
  return { ...office, actor, operator }
}

const UNKNOWN = notFound('is not the address of an operator. To see all, run operator list', {
  field: '--email',
  rule: 'unknown',
})

/** Errors name the option that was typed. */
async function aboutEmail(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    throw error instanceof AppError ? renamed(error, () => '--email') : error
  }
}
