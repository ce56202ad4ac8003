import { Value } from '@sinclair/typebox/value'
import { badRequest, InlineKeyboard } from './wire.ts'

/** The parameters of a call, texts if they are from the query. */
export type Params = Record<string, unknown>

/** Reads a query and a JSON object. */
export async function readParams(request: Request): Promise<Params> {
  const query = Object.fromEntries(new URL(request.url).searchParams)
  const type = request.headers.get('content-type') ?? ''
  return type.includes('json') ? { ...query, ...(await readObject(request)) } : query
}

async function readObject(request: Request): Promise<Params> {
  const body: unknown = await request.json().catch(() => undefined)
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw badRequest("can't parse JSON object")
  return { ...body }
}

export const textOf = (params: Params, name: string): string => {
  const value = params[name]
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

export const numberOf = (params: Params, name: string, otherwise: number): number => {
  const value = Number.parseInt(textOf(params, name), 10)
  return Number.isNaN(value) ? otherwise : value
}

/** Undefined where none is named; an empty list stands for what is usual. */
export function kindsOf(params: Params): string[] | undefined {
  const value = params.allowed_updates
  return Array.isArray(value) ? value.map(String) : undefined
}

export function keyboardOf(params: Params): InlineKeyboard | undefined {
  const value = params.reply_markup
  if (value === undefined) return undefined
  if (!Value.Check(InlineKeyboard, value)) throw badRequest("can't parse inline keyboard button")
  const rows = value.inline_keyboard.filter((row) => row.length > 0)
  for (const button of rows.flat()) checkButton(button)
  return rows.length === 0 ? undefined : { inline_keyboard: rows }
}

function checkButton(button: InlineKeyboard['inline_keyboard'][number][number]) {
  const { callback_data: data, url } = button
  if (data === undefined && url === undefined)
    throw badRequest(
      "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard",
    )
  if (data === undefined) return
  const bytes = Buffer.byteLength(data)
  if (bytes < 1 || bytes > 64) throw badRequest('BUTTON_DATA_INVALID')
}
