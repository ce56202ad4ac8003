/** Headers that handlers read themselves, as parameters in the API document. */
const header = (name: string, description: string) =>
  ({ name, in: 'header', schema: { type: 'string', description } }) as const

export const SESSION_TOKEN = header('X-Session-Token', "Token of the user's session.")

export const REQUIRED_SESSION_TOKEN = { ...SESSION_TOKEN, required: true } as const

export const RETURN_TO = header(
  'X-Return-To',
  'URL to return to afterwards. It must be one of the allowed return URLs, if there are any.',
)
