import type { Server } from '../../support/binary.ts'
import type { Answered, Json } from '../resilience/support/client.ts'
import { errorsIn, type Flows } from './flows.ts'

type Step = 'register' | 'prove' | 'askForCode' | 'bringCode' | 'signIn' | 'changePassword'

export type Person = ReturnType<typeof newPerson>

let people = 0

/**
 * What a person was told, and may rely on from then on. Whether a form without an answer was carried
 * out is known once it is sent again. An existing person signs in by code first; a new one registers.
 */
export const newPerson = ({ isThere }: { isThere: boolean }) => ({
  email: `person-${people++}@example.com`,
  password: undefined as string | undefined,
  formerPasswords: [] as string[],
  /** Tokens of sessions that are alive, as far as the person was told. */
  tokens: [] as string[],
  /** Tokens of sessions that a change of the password has ended. */
  endedTokens: [] as string[],
  /** Forms with codes that were accepted. */
  usedCodes: [] as { flow: Json; form: Json }[],
  /** How many events of each type there have to be. */
  events: { 'identity.created': isThere ? 1 : 0 } as Record<string, number>,
  /** Undefined at the end of the life. */
  next: (isThere ? 'askForCode' : 'register') as Step | undefined,
  /** The flow of `next`, and the session that it acts for. */
  flow: undefined as Json,
  actor: undefined as string | undefined,
  /** The form of `next`, from sending it until its answer arrives. */
  sent: undefined as Json,
  verificationUrl: '',
})

/** The password that the next change sets. */
export const nextPassword = ({ formerPasswords, password }: Person): string =>
  `correct horse ${formerPasswords.length + (password === undefined ? 0 : 1)} battery`

interface Rules {
  begin: (flows: Flows, server: Server, person: Person) => Promise<Json>
  form: (person: Person, code: string) => Json
  /** Whether the form has an emailed code. */
  needsCode?: boolean
  /** Notes the result; without a `body`, only that the form was carried out. */
  done: (person: Person, body: Json) => void
}

const login: Rules['begin'] = (flows, server) => flows.start(server, 'login')

const RULES: Record<Step, Rules> = {
  register: {
    begin: (flows, server) => flows.start(server, 'registration'),
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
    begin: (flows, server, person) => flows.follow(server, person.verificationUrl),
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
    begin: (flows, server, person) => {
      person.actor = person.tokens.at(-1)
      return flows.start(server, 'settings', person.actor)
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

/** The code also verifies the address. */
function usedCode(person: Person) {
  person.usedCodes.push({ flow: person.flow, form: person.sent })
  happened(person, 'identity.email_verified')
}

/** Takes a step in a life, again if its answer was lost. Rejects if the connection breaks. */
export async function step(flows: Flows, server: Server, person: Person) {
  const { next } = person
  if (next === undefined) return
  const { begin, form, needsCode = false, done } = RULES[next]
  person.flow ??= await begin(flows, server, person)
  const mayBeDone = person.sent !== undefined
  person.sent ??= form(person, needsCode ? codeFor(flows, person) : '')
  const answer = await flows.send(server, person.flow, person.sent, person.actor)
  if (answer.status !== 200 && !(mayBeDone && wasDone(next, answer)))
    throw new Error(`${next}: ${answer.status} ${JSON.stringify(answer.body)}`)
  done(person, answer.status === 200 ? answer.body : undefined)
  if (next !== 'askForCode') person.flow = undefined
  person.actor = undefined
  person.sent = undefined
}

function codeFor({ codesTo }: Flows, { email }: Person): string {
  const code = codesTo(email).at(-1)
  if (code === undefined) throw new Error(`no mail to ${email}`)
  return code
}

/** A complete flow of each kind: sign-in, registration, settings, verification. */
export const OVER = [4010007, 4040002, 4050001, 4070002]

/** After a carried-out request for a code, the next one comes too soon. */
const wasDone = (next: Step, answer: Answered): boolean =>
  next === 'askForCode' ? answer.status === 429 : errorsIn(answer).some((id) => OVER.includes(id))
