import { EXAMPLE_ID } from '../../../http/example-values.ts'

const label = (id: number, text: string) => ({ label: { id, text, type: 'info' } })

const input = (
  group: string,
  attributes: { name: string; type: string; value?: string; required?: boolean },
  meta: ReturnType<typeof label>,
) => ({
  type: 'input',
  group,
  attributes: { node_type: 'input', value: '', disabled: false, ...attributes },
  messages: [],
  meta,
})

const URL = `https://gatehouse.example.com/auth/self-service/login?flow=${EXAMPLE_ID}`

/** A sign-in with a password. */
const flow = {
  id: EXAMPLE_ID,
  type: 'browser',
  expires_at: '2026-01-31T13:00:00.000Z',
  issued_at: '2026-01-31T12:00:00.000Z',
  request_url: 'https://gatehouse.example.com/v1/gate/auth/login',
  state: 'choose_method',
  ui: {
    action: URL,
    method: 'POST',
    nodes: [
      input(
        'default',
        { name: 'csrf_token', type: 'hidden', value: 'b259e10efc16963f', required: true },
        label(0, ''),
      ),
      input(
        'default',
        { name: 'identifier', type: 'text', required: true },
        label(1070002, 'Email address'),
      ),
      input(
        'password',
        { name: 'password', type: 'password', required: true },
        label(1070001, 'Password'),
      ),
      input(
        'password',
        { name: 'method', type: 'submit', value: 'password' },
        label(1010022, 'Sign in with password'),
      ),
    ],
  },
  hosted_url: URL,
}

const wrong = 'Incorrect email address or password. Check both and try again.'

/** A flow, and one whose form was rejected. */
export const EXAMPLE_FLOWS = [
  flow,
  { ...flow, ui: { ...flow.ui, messages: [{ id: 4000006, text: wrong, type: 'error' }] } },
]
