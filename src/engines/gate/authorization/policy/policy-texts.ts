/** Policies that are evaluated together, by name. The object identifies them. */
export interface PolicyTexts {
  texts: Record<string, string>
  /** Length of all texts. */
  size: number
}

export const textsOf = (policies: readonly [name: string, text: string][]): PolicyTexts => ({
  texts: Object.fromEntries(policies),
  size: policies.reduce((sum, [, text]) => sum + text.length, 0),
})
