/** Languages that bots speak. */
export const LANGUAGES = ['en', 'de'] as const
export type Language = (typeof LANGUAGES)[number]

/** The one that suits somebody whose app says `code`, an IETF tag such as `de-AT`. */
export function languageOf(code: string | null): Language {
  const primary = code?.split('-')[0]?.toLowerCase()
  return LANGUAGES.find((language) => language === primary) ?? 'en'
}
