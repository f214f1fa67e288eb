export async function importFile(): Promise<number> {
  return 1;
}
