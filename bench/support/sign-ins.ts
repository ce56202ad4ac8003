import { connect } from './connection.ts'
import { openEngine } from './engine.ts'
import { createGateInstallation, type GateInstallation, postOf } from './gate.ts'
import { requestText } from './load.ts'
import type { Server } from './server.ts'

export const START = '/v1/gate/auth/login'
export const SUBMIT = '/auth/self-service/login'
/** So many people have a password, the same for all of them. */
export const PEOPLE = 200
export const PASSWORD = 'correct horse battery'
/** Far fewer than are stored at the same time by sign-ins. */
const STARTERS = 16

export interface PasswordInstallation extends GateInstallation {
  emails: string[]
  /** The hash of the password, of all of them: to check it costs what it would cost for each. */
  hash: string
}

/** What a hash costs: KiB of memory, and passes over it. */
export interface HashCost {
  memoryCost: number
  timeCost: number
}

/** As by default. */
export const USUAL: HashCost = { memoryCost: 19 * 1024, timeCost: 2 }
/** Next to nothing, and less than any setting allows. */
export const CHEAP: HashCost = { memoryCost: 8, timeCost: 1 }

/** Users who can sign in with a password, in addition to those with known tokens. */
export async function createPasswordInstallation(
  stack: AsyncDisposableStack,
  cost: HashCost,
): Promise<PasswordInstallation> {
  const installation = await createGateInstallation(stack)
  const hash = await Bun.password.hash(PASSWORD, { algorithm: 'argon2id', ...cost })
  await using inside = new AsyncDisposableStack()
  const { app } = await openEngine(inside, installation)
  const emails = Array.from({ length: PEOPLE }, (_, n) => `grace-${n}@example.com`)
  const credentials = { password: { config: { hashed_password: hash } } }
  for (const email of emails) {
    const person = { schema_id: 'user', traits: { email }, credentials }
    const request = new Request(
      'http://localhost/v1/gate/identities',
      postOf(installation.key, person),
    )
    const answer = await app.fetch(request)
    if (!answer.ok) throw new Error(`answered ${answer.status}: ${await answer.text()}`)
  }
  return { ...installation, emails, hash }
}

/** As many sign-ins as are asked for, begun: what is left to send, one person after the other. */
export async function begin(
  server: Server,
  { key, emails }: PasswordInstallation,
  count: number,
): Promise<string[]> {
  using stack = new DisposableStack()
  const request = requestText(START, key)
  const rest = Array.from({ length: count }, (_, n) => n).values()
  const forms: string[] = []
  async function startSome() {
    const { ask } = stack.use(await connect(server))
    for (const n of rest) {
      const { status, body } = await ask(request)
      if (status !== 200) throw new Error(`${START} answered ${status}: ${body}`)
      forms[n] = formText(JSON.parse(body), emails[n % emails.length] as string)
    }
  }
  await Promise.all(Array.from({ length: STARTERS }, startSome))
  return forms
}

interface LoginFlow {
  id: string
  ui: { nodes: { attributes: { name: string; value?: string } }[] }
}

function formText({ id, ui }: LoginFlow, identifier: string): string {
  const csrf = ui.nodes.find(({ attributes }) => attributes.name === 'csrf_token')
  const fields = { method: 'password', identifier, password: PASSWORD }
  return requestText(`${SUBMIT}?flow=${id}`, undefined, {
    csrf_token: csrf?.attributes.value,
    ...fields,
  })
}

export const isSignedIn = (body: string): boolean => body.includes('"session_token":"gat_st_')
