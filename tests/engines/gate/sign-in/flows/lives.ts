import type { Json } from '../../fixture.ts'
import type { Answered } from '../../processes.ts'
import { errorsIn, type Installation } from './processes.ts'

type Step = 'register' | 'prove' | 'askForCode' | 'bringCode' | 'signIn' | 'changePassword'

/**
 * What has been acknowledged to somebody, and may be relied on from then on. A form whose answer
 * never came is in doubt until it is sent again: then it is known whether it had been carried out.
 */
export interface Person {
  email: string
  password: string | undefined
  /** Those that others took the place of. */
  formerPasswords: string[]
  /** Of sessions that are alive, as far as their owner was told. */
  tokens: string[]
  /** Of sessions that a change of the password has ended. */
  endedTokens: string[]
  /** Forms with codes that were taken. */
  usedCodes: { flow: Json; form: Json }[]
  /** How many events of each type there have to be. */
  events: Record<string, number>
  /** The end of the life when absent. */
  next: Step | undefined
  /** The flow of `next`, once it is begun, and the session that it acts for. */
  flow: Json
  actor: string | undefined
  /** The form of `next`, once it is sent, and until its answer is here. */
  sent: Json
  verificationUrl: string
}

let people = 0

/** Somebody who is there already signs in by code at first, the others register. */
export function newPerson({ isThere }: { isThere: boolean }): Person {
  return {
    email: `person-${people++}@example.com`,
    password: undefined,
    formerPasswords: [],
    tokens: [],
    endedTokens: [],
    usedCodes: [],
    events: { 'identity.created': isThere ? 1 : 0 },
    next: isThere ? 'askForCode' : 'register',
    flow: undefined,
    actor: undefined,
    sent: undefined,
    verificationUrl: '',
  }
}

/** What a change of the password would be to. */
export const nextPassword = ({ formerPasswords, password }: Person): string =>
  `correct horse ${formerPasswords.length + (password === undefined ? 0 : 1)} battery`

interface Rules {
  begin: (installation: Installation, server: string, person: Person) => Promise<Json>
  form: (person: Person, code: string) => Json
  /** The form has a code from a mail. */
  needsCode?: boolean
  /** What is known then; without a `body`, nobody was told more than that it is done. */
  done: (person: Person, body: Json) => void
}

const login: Rules['begin'] = (installation, server) => installation.start(server, 'login')

const RULES: Record<Step, Rules> = {
  register: {
    begin: (installation, server) => installation.start(server, 'registration'),
    form: (person) => ({
      method: 'password',
      traits: { email: person.email },
      password: nextPassword(person),
    }),
    done: (person, body) => {
      person.password = nextPassword(person)
      happened(person, 'identity.created')
      openedSession(person, body)
      const shown = body?.continue_with.find(
        ({ action }: Json) => action === 'show_verification_ui',
      )
      person.verificationUrl = shown?.flow.url
      person.next = body ? 'prove' : 'signIn'
    },
  },
  prove: {
    begin: (installation, server, person) => installation.read(server, person.verificationUrl),
    form: (_, code) => ({ method: 'code', code }),
    needsCode: true,
    done: (person) => {
      usedCode(person)
      person.next = 'signIn'
    },
  },
  askForCode: {
    begin: login,
    form: ({ email }) => ({ method: 'code', identifier: email }),
    done: (person) => {
      person.next = 'bringCode'
    },
  },
  bringCode: {
    begin: login,
    form: (_, code) => ({ method: 'code', code }),
    needsCode: true,
    done: (person, body) => {
      usedCode(person)
      happened(person, 'identity.login')
      openedSession(person, body)
      // Without a password there is no other way in for now.
      person.next = body ? 'changePassword' : undefined
    },
  },
  signIn: {
    begin: login,
    form: ({ email, password }) => ({ method: 'password', identifier: email, password }),
    done: (person, body) => {
      happened(person, 'identity.login')
      openedSession(person, body)
      const { tokens, formerPasswords } = person
      const isLast = formerPasswords.length > 0
      person.next = isLast ? undefined : tokens.length > 0 ? 'changePassword' : 'signIn'
    },
  },
  changePassword: {
    begin: (installation, server, person) => {
      person.actor = person.tokens.at(-1)
      return installation.start(server, 'settings', person.actor)
    },
    form: (person) => ({ method: 'password', password: nextPassword(person) }),
    done: (person) => {
      const changed = nextPassword(person)
      if (person.password !== undefined) person.formerPasswords.push(person.password)
      person.password = changed
      happened(person, 'identity.password_changed')
      person.endedTokens.push(...person.tokens.filter((token) => token !== person.actor))
      person.tokens = person.tokens.filter((token) => token === person.actor)
      person.next = 'signIn'
    },
  },
}

function happened({ events }: Person, type: string) {
  events[type] = (events[type] ?? 0) + 1
}

function openedSession({ tokens }: Person, body: Json) {
  if (body) tokens.push(body.session_token)
}

/** It proves the address, too. */
function usedCode(person: Person) {
  person.usedCodes.push({ flow: person.flow, form: person.sent })
  happened(person, 'identity.email_verified')
}

/**
 * One step in the life of a person; or the same one once more, if its answer was never told.
 * Rejects when the connection breaks before that.
 */
export async function step(installation: Installation, server: string, person: Person) {
  const { next } = person
  if (next === undefined) return
  const { begin, form, needsCode = false, done } = RULES[next]
  person.flow ??= await begin(installation, server, person)
  const mayBeDone = person.sent !== undefined
  person.sent ??= form(person, needsCode ? codeFor(installation, person) : '')
  const answer = await installation.send(server, person.flow, person.sent, person.actor)
  if (answer.status !== 200 && !(mayBeDone && wasDone(next, answer)))
    throw new Error(`${next}: ${answer.status} ${JSON.stringify(answer.body)}`)
  done(person, answer.status === 200 ? answer.body : undefined)
  if (next !== 'askForCode') person.flow = undefined
  person.actor = undefined
  person.sent = undefined
}

/** Whoever was told that a code is on its way has a mail; a second one, if they asked for long. */
function codeFor({ codesTo }: Installation, { email }: Person): string {
  const code = codesTo(email).at(-1)
  if (code === undefined) throw new Error(`no mail to ${email}`)
  return code
}

/** The flow is over: of sign-in, registration, settings and verification. */
export const OVER = [4010007, 4040002, 4050001, 4070002]

/** A mail that goes out keeps the next one waiting. */
const wasDone = (next: Step, answer: Answered): boolean =>
  next === 'askForCode' ? answer.status === 429 : errorsIn(answer).some((id) => OVER.includes(id))
