/** Languages of the bots' texts. */
export const LANGUAGES = ['en', 'de'] as const
export type Language = (typeof LANGUAGES)[number]

/** The language for `code`, the IETF tag of the user's messenger such as `de-AT`; English if there is none for it. */
export function languageOf(code: string | null): Language {
  const primary = code?.split('-')[0]?.toLowerCase()
  return LANGUAGES.find((language) => language === primary) ?? 'en'
}
